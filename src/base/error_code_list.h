// clang-format off: one code a line, so that a diff shows what changed.
// OUTHAUL_ERROR(code, class, HTTP status, what it means, what to do next); sorted by subject.
// No include guard: read several times with different definitions of OUTHAUL_ERROR.

// General
OUTHAUL_ERROR(invalid, fix_input, 400, "The request can never succeed as sent.", "Correct the named field and send it again.")
OUTHAUL_ERROR(not_found, fix_input, 404, "The named thing does not exist or is not yours to see.", "Check the id with the matching `list` command.")
OUTHAUL_ERROR(method_not_allowed, fix_input, 405, "The address exists, the method does not.", "Use a method from the `Allow` header.")
OUTHAUL_ERROR(unauthenticated, fix_input, 401, "No valid API token came with the request.", "Run `outhaul login` with a token that is current.")
OUTHAUL_ERROR(denied, fix_input, 403, "The account is known but may not do this.", "Ask an administrator for the role that may.")
OUTHAUL_ERROR(conflict, reread, 409, "Somebody else changed it first, or the name is taken.", "Read it again, then decide again.")
OUTHAUL_ERROR(idempotency_mismatch, fix_input, 422, "The idempotency key was used before with another request.", "Use a fresh key for a new request.")
OUTHAUL_ERROR(too_large, fix_input, 413, "A documented size limit is passed.", "Send less; the limit is in the details.")
OUTHAUL_ERROR(exhausted, retry, 429, "A documented limit is reached for now.", "Try again after `Retry-After`.")
OUTHAUL_ERROR(unavailable, retry, 503, "A peer, a disk or a service is away.", "Try again with back-off.")
OUTHAUL_ERROR(draining, retry, 503, "The process takes no new work because it is shutting down.", "Try again; another process takes over.")
OUTHAUL_ERROR(deadline_exceeded, retry, 504, "No answer came within the time allowed.", "Try again, or allow more time.")
OUTHAUL_ERROR(cancelled, stop, 499, "The caller gave up before the end.", "Nothing to do.")
OUTHAUL_ERROR(internal, stop, 500, "A fault in Outhaul itself.", "Look at the log of the process named in the message and report it.")

// Configuration and data
OUTHAUL_ERROR(config_invalid, fix_input, 400, "A configuration file has faults; each is named with file, line and key.", "Correct the named lines.")
OUTHAUL_ERROR(file_permissions_loose, fix_input, 500, "A file that decides trust can be changed by others.", "Run the `chmod` or `chown` that the message names.")
OUTHAUL_ERROR(identity_exists, fix_input, 409, "This directory already holds an identity.", "Remove the node on purpose first; an identity is never replaced silently.")
OUTHAUL_ERROR(data_locked, fix_input, 409, "Another process uses this data directory.", "Stop the process named in the message.")
OUTHAUL_ERROR(data_format_newer, stop, 500, "The data was written by a newer version.", "Run that version, or restore a backup.")
OUTHAUL_ERROR(store_corrupt, stop, 500, "The database file is damaged; it was left untouched.", "Restore a backup; see docs/runbooks/store-corrupt.md.")
OUTHAUL_ERROR(store_foreign, stop, 500, "The database belongs to another deployment or to an unknown chain of migrations.", "Point to the right data directory; see docs/runbooks/store-foreign.md.")
OUTHAUL_ERROR(journal_corrupt, stop, 500, "A journal or segment is damaged before its end.", "Every whole record before the named offset was kept; see docs/runbooks/journal-corrupt.md.")
OUTHAUL_ERROR(disk_full, retry, 507, "The disk has no room left.", "Free some space; work goes on by itself.")

// Identity and enrolment
OUTHAUL_ERROR(enrolment_token_invalid, fix_input, 403, "The enrolment token is unknown, expired or already used by another key.", "Make a new one: `outhaul node token create`.")
OUTHAUL_ERROR(ca_fingerprint_mismatch, fix_input, 403, "The hub's CA is not the one whose fingerprint was given.", "Compare the fingerprint with the one the hub prints.")
OUTHAUL_ERROR(certificate_invalid, fix_input, 403, "A certificate or certificate request is malformed, expired or from another CA.", "Enrol the node again on purpose.")
OUTHAUL_ERROR(node_removed, stop, 403, "This node was removed from the hub.", "Enrol again on purpose if it should come back.")
OUTHAUL_ERROR(node_unknown, stop, 403, "This hub has no record of the node; it may have been restored from a backup.", "Restore a newer backup of the hub, or enrol the node again in an empty directory.")
OUTHAUL_ERROR(name_taken, fix_input, 409, "Another node or account has this name.", "Choose another with `--name`.")

// Session and channels
OUTHAUL_ERROR(protocol_incompatible, stop, 426, "The two sides share no protocol version; both are named.", "Upgrade the older side.")
OUTHAUL_ERROR(protocol_violation, stop, 400, "The peer sent something the protocol does not allow.", "Look for a version mismatch or a proxy that changes bytes.")
OUTHAUL_ERROR(duplicate_instance, stop, 409, "Another live process uses the same identity; both are named.", "Stop one; a copied data directory must be enrolled afresh.")
OUTHAUL_ERROR(session_replaced, retry, 409, "A newer session of the same process took over.", "Nothing to do.")
OUTHAUL_ERROR(session_lost, retry, 503, "The tunnel closed before the answer came.", "It reconnects by itself.")
OUTHAUL_ERROR(target_unavailable, fix_input, 404, "The node does not offer this target.", "The node's own log says why.")
OUTHAUL_ERROR(channel_reset, retry, 503, "The peer gave up this channel.", "Try again.")
OUTHAUL_ERROR(stream_unknown, reread, 404, "The reader has no record of this stream.", "Send its envelope first.")
OUTHAUL_ERROR(stream_gap, stop, 410, "Some bytes before this offset no longer exist; the gap is recorded.", "Go on from the offset in the details.")

// Tasks: refusals of the node, in the order of its checks
OUTHAUL_ERROR(task_too_large, fix_input, 413, "The signed task is over its size limit.", "Send less in argv and environment; use stdin for data.")
OUTHAUL_ERROR(task_malformed, fix_input, 400, "The signed bytes are no task of a known form.", "Look for a version mismatch between hub and node.")
OUTHAUL_ERROR(task_signature_invalid, stop, 403, "No signature over these exact bytes holds under a key the node knows.", "Check that the hub's signing keys reached the node.")
OUTHAUL_ERROR(task_audience_mismatch, stop, 403, "The task is signed for another node.", "Nothing to do at this node.")
OUTHAUL_ERROR(task_expired, retry, 403, "The task's time window does not hold now; the message names the skew.", "Check both clocks, then submit again.")
OUTHAUL_ERROR(task_replayed, reread, 409, "This signed task was seen before; the first run's state is in the details.", "Read the first run.")
OUTHAUL_ERROR(task_owner_unknown, fix_input, 403, "The task is not bound to an owner that this node accepts.", "Check the account.")
OUTHAUL_ERROR(task_fence_superseded, stop, 409, "The task's fence is older than one the node has seen.", "Nothing to do; newer work replaced it.")
OUTHAUL_ERROR(task_policy_refused, fix_input, 403, "The node owner's file does not allow this.", "Ask the node's owner.")
OUTHAUL_ERROR(consent_denied, fix_input, 403, "The person at the node said no.", "Ask the node's owner.")
OUTHAUL_ERROR(consent_timeout, retry, 504, "Nobody at the node answered in time, and no answer is a no.", "Ask the node's owner to watch `outhaul-node approvals`, then submit it again.")
OUTHAUL_ERROR(consent_void, retry, 409, "What was approved changed before it started; nothing was started.", "Submit it again: what stands there now is asked anew.")
OUTHAUL_ERROR(node_locked, retry, 503, "The node's owner has locked it: nothing runs there.", "Only its owner lifts that: `outhaul-node unlock`.")
OUTHAUL_ERROR(node_full, retry, 503, "The node has no free slot.", "It stays queued and goes on by itself.")
OUTHAUL_ERROR(node_disk_full, retry, 507, "The node is below its disk floor.", "Free some space on the node.")
OUTHAUL_ERROR(isolation_unavailable, fix_input, 409, "The node cannot give the isolation asked for.", "Choose another level or node; the node's self-test names the remedy.")
OUTHAUL_ERROR(no_node_matches, retry, 409, "No node can take this task now; the reason per node is in the details.", "Attach a node, or change the selector.")
OUTHAUL_ERROR(queue_timeout, retry, 504, "The task waited longer than its queue limit and was never started.", "Submit it again, or raise `--queue-timeout`.")

// Tasks: how a run ended
OUTHAUL_ERROR(program_not_found, fix_input, 422, "There is no such program on the node, or no such interpreter as its first line names.", "Check the name; without a slash it is looked up in the task's PATH, which `--env PATH=...` sets.")
OUTHAUL_ERROR(program_not_executable, fix_input, 422, "The program is there and the system does not execute it; its reason is in the message.", "Check its mode (`chmod +x`) and that it is a program for this machine.")
OUTHAUL_ERROR(directory_unavailable, fix_input, 422, "The task's working directory cannot be entered; the path and the system's reason are in the message.", "Make it on the node, or leave out `--cwd`: a task starts in the node's workspace, and `--cwd` names a directory below that.")
OUTHAUL_ERROR(spawn_failed, fix_input, 422, "The node could not start a process; the system's reason is in the message.", "Look at the node's limits: processes, memory, open files.")
OUTHAUL_ERROR(task_timed_out, fix_input, 504, "The task passed its own time limit and was ended.", "Raise `--timeout`.")
OUTHAUL_ERROR(task_cancelled, stop, 409, "Somebody cancelled the task.", "Nothing to do.")
OUTHAUL_ERROR(task_lost, stop, 410, "The task started and the record of its end was destroyed with the process that held it.", "Look at its output, then decide whether to submit it again; it is never run twice.")
