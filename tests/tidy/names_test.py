"""Nothing tracked names one deployment: no real host, mail address or network address.

Free to use are the names that RFC 2606 and RFC 6761 reserve (.example, .test, .invalid, localhost, example.com/net/org),
loopback, and the documentation networks of RFC 5737 and RFC 3849.
"""
# proves Q4
import ipaddress
import re
import unittest

import repository

ALLOWED = "tests/tidy/names_allowed.txt"
URL_HOST = re.compile(r"\b(?:https?|wss?|ssh|git)://(?:[^\s/@\"'`]*@)?([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+)")
MAIL_HOST = re.compile(r"\b[A-Za-z0-9._%+-]+@([A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*\.[A-Za-z]{2,})\b")
# "RFC 5280, 4.1.2.2" is a place in a standard and no address.
SECTION = re.compile(r"(?:RFC \d+,|[Ss]ections?) [\d.]+")
ADDRESS = re.compile(r"(?<![\w.])(\d{1,3}(?:\.\d{1,3}){3})(?![\w.]|\.\d)")
FREE_HOST = re.compile(r"(^|\.)(example|test|invalid|localhost|local|internal|example\.(com|net|org))$", re.I)
# Where the standards that comments cite are published.
STANDARDS = {"www.w3.org", "www.rfc-editor.org", "datatracker.ietf.org", "www.apache.org", "github.com"}
FREE_NETWORKS = [ipaddress.ip_network(network) for network in
                 ("127.0.0.0/8", "0.0.0.0/32", "192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24")]
# Addresses that a parser has to refuse are its business: they name a kind of address, not a place.
REFUSED_SAMPLES = {"10.0.0.1", "10.0.0.2", "169.254.169.254", "192.168.0.1", "192.168.1.1", "172.16.0.1",
                   "255.255.255.255", "1.2.3.4", "256.1.1.1", "999.999.999.999", "8.8.8.8"}


def is_free_address(text):
    if text in REFUSED_SAMPLES:
        return True
    try:
        address = ipaddress.ip_address(text)
    except ValueError:
        return True  # 1.81.0.300: a version or worse, but no address
    return any(address in network for network in FREE_NETWORKS)


def names_in(text):
    """Every host and address of `text` that is not free to use."""
    hosts = [host for host in URL_HOST.findall(text) + MAIL_HOST.findall(text) if not FREE_HOST.search(host)]
    hosts = [host for host in hosts if host not in STANDARDS and not re.fullmatch(r"[\d.]+", host)]
    return hosts + [address for address in ADDRESS.findall(SECTION.sub("", text)) if not is_free_address(address)]


class Names(unittest.TestCase):
    def test_tree_names_no_deployment_beyond_the_allow_list(self):
        allowed = {words[0]: int(words[1]) for words in repository.allow_list(ALLOWED)}
        for path, text in repository.tracked_text():
            found = names_in(text)
            with self.subTest(path=str(path)):
                self.assertEqual(len(found), allowed.pop(str(path), 0), found)
        self.assertEqual(allowed, {}, "no longer needed")

    def test_every_allowance_has_a_reason(self):
        for words in repository.allow_list(ALLOWED):
            self.assertGreater(len(words), 3, words)

    def test_what_names_a_place_is_found_and_what_is_reserved_is_not(self):
        real = "https:" + "//hub.acme.io/x"
        self.assertEqual(names_in(real), ["hub.acme.io"])
        self.assertEqual(names_in("write to root" + "@acme.io today"), ["acme.io"])
        self.assertEqual(names_in("listen 93.184" + ".216.34:80"), ["93.184" + ".216.34"])
        free = "https://hub.example:8443 a@example.org 127.0.0.1 192.0.2.7 wss://node.hub.test OpenSSL 3.0.22 1.2.3.4.5"
        self.assertEqual(names_in(free), [])


if __name__ == "__main__":
    unittest.main()
