// Load for the queues that tests/bench/queues.py measures beside Outhaul. Prints one JSON line.
//   node queue_peers.mjs beanstalkd PORT put|work CLIENTS TOTAL
//   node queue_peers.mjs bullmq PORT put|work CLIENTS TOTAL      (NODE_PATH names where bullmq is)
// put: each client has a connection of its own and adds one job at a time. work: jobs that were put are claimed and completed.
import { createRequire } from 'node:module';
import net from 'node:net';
import path from 'node:path';

const [kind, port, what, clients, total] = process.argv.slice(2);
const inFlight = Number(clients);
let left = Number(total);
const body = JSON.stringify({ argv: ['/usr/bin/true'], selector: { pool: 'nobody' } });

// A connection that sends one command and waits for one answer, which `isWhole` finds the end of.
class Wire {
  #socket;
  #buffer = '';
  #waiting = null;
  constructor(isWhole) {
    this.#socket = net.connect({ port: Number(port), host: '127.0.0.1', noDelay: true });
    this.#socket.setEncoding('latin1');
    this.#socket.on('data', (text) => {
      this.#buffer += text;
      if (this.#waiting && isWhole(this.#buffer)) {
        const [answer, done] = [this.#buffer, this.#waiting];
        this.#buffer = '';
        this.#waiting = null;
        done(answer);
      }
    });
    this.#socket.on('error', (error) => { throw error; });
  }
  ask(text) {
    return new Promise((done) => {
      this.#waiting = done;
      this.#socket.write(text, 'latin1');
    });
  }
  close() { this.#socket.destroy(); }
}

function makeBeanstalkd() {
  const isWhole = (text) => {
    const end = text.indexOf('\r\n');
    const reserved = /^RESERVED \d+ (\d+)\r\n/.exec(text);
    return reserved ? text.length >= reserved[0].length + Number(reserved[1]) + 2 : end >= 0;
  };
  const wire = new Wire(isWhole);
  const expect = (answer, word) => { if (!answer.startsWith(word)) throw new Error(answer); };
  return {
    put: async () => expect(await wire.ask(`put 1 0 60 ${body.length}\r\n${body}\r\n`), 'INSERTED'),
    work: async () => {
      const answer = await wire.ask('reserve\r\n');
      expect(answer, 'RESERVED');
      expect(await wire.ask(`delete ${answer.split(' ')[1]}\r\n`), 'DELETED');
    },
    close: () => wire.close(),
  };
}

async function race(make) {
  const all = Array.from({ length: inFlight }, make);
  const start = process.hrtime.bigint();
  await Promise.all(all.map(async (client) => {
    while (left-- > 0) await client[what]();
  }));
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  for (const client of all) await client.close();
  return seconds;
}

async function bullmq() {
  const load = createRequire(path.join(process.env.NODE_PATH, 'x.js'));
  const { Queue, Worker } = load('bullmq');
  const connection = { host: '127.0.0.1', port: Number(port) };
  if (what === 'put') {
    return race(() => {
      const queue = new Queue('bench', { connection: { ...connection } });
      return { put: () => queue.add('task', JSON.parse(body)), close: () => queue.close() };
    });
  }
  const start = process.hrtime.bigint();
  await new Promise((done) => {
    const worker = new Worker('bench', async () => {}, { connection, concurrency: inFlight });
    worker.on('completed', () => { if (--left === 0) done(worker.close()); });
  });
  return Number(process.hrtime.bigint() - start) / 1e9;
}

const seconds = kind === 'bullmq' ? await bullmq() : await race(makeBeanstalkd);
console.log(JSON.stringify({ rate: Number(total) / seconds }));
