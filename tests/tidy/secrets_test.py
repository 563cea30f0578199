"""No secret is ever committed: keys and tokens are found by their form in everything that Git tracks."""
# proves Q7
import re
import unittest

import repository

# Each form is split here, so that this file does not hold one.
FORMS = {
    # The label with a body after it; a parser's tests need the label.
    "private key": r"-----BEGIN (?:[A-Z0-9]+ )*PRIVATE" r" KEY-----[\s\S]{0,200}?[A-Za-z0-9+/]{40}",
    "AWS key id": r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    "GitHub token": r"\b(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{60,})",
    "GitLab token": r"\bglpat-[A-Za-z0-9_-]{20}",
    "Slack token": r"\bxox[abprs]-[0-9A-Za-z-]{20,}",
    "model provider key": r"\bsk-(?:ant-|proj-)?[A-Za-z0-9_-]{32,}",
    "Google key": r"\bAIza[0-9A-Za-z_-]{35}\b",
    "JSON web token": r"\beyJ[A-Za-z0-9_-]{16,}\.eyJ[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    "Outhaul API token": r"\boht_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
    "Outhaul enrolment token": r"\bohe_[A-Za-z0-9.-]+_[A-Za-z0-9_-]{43}(?![A-Za-z0-9_-])",
}
SECRET = re.compile("|".join(f"(?P<{name.replace(' ', '_')}>{form})" for name, form in FORMS.items()))
NAMES = re.compile(r"(^|/)(id_(rsa|ed25519|ecdsa)|.*\.(key|p12|pfx|keystore)|\.env|\.netrc|\.pgpass)$")
# One character many times over is a sample of the form, which tests of a parser need.
SAMPLE = re.compile(r"([A-Za-z0-9])\1{15}")


def secrets_in(text):
    """(kind, line number) of everything that looks like a secret; never the secret itself."""
    for match in SECRET.finditer(text):
        if not SAMPLE.search(match[0]):
            yield match.lastgroup.replace("_", " "), text.count("\n", 0, match.start()) + 1


class Secrets(unittest.TestCase):
    def test_no_tracked_file_holds_one(self):
        for path, text in repository.tracked_text():
            self.assertEqual(list(secrets_in(text)), [], path)

    def test_no_tracked_file_is_named_like_one(self):
        for path in repository.tracked_files():
            self.assertIsNone(NAMES.search(str(path)), path)

    def test_each_form_is_found(self):
        mixed = "Ab1Cd2Ef3Gh4Ij5Kl6Mn7Op8Qr9St0Uv1Wx2Yz3Ab4Cd5Ef6"
        samples = {
            "private key": "-----BEGIN EC PRIVATE" + " KEY-----\\n" + mixed,
            "AWS key id": "AKIA" + "ABCDEFGH23456789",
            "GitHub token": "ghp_" + mixed[:36],
            "GitLab token": "glpat-" + mixed[:20],
            "Slack token": "xoxb-" + mixed[:24],
            "model provider key": "sk-ant-" + mixed[:40],
            "Google key": "AIza" + mixed[:35],
            "JSON web token": "eyJ" + mixed[:20] + ".eyJ" + mixed[:20] + "." + mixed[:20],
            "Outhaul API token": "oht_" + mixed[:43],
            "Outhaul enrolment token": "ohe_hub.example_" + mixed[:43],
        }
        self.assertEqual(samples.keys(), FORMS.keys())
        for kind, sample in samples.items():
            with self.subTest(kind=kind):
                self.assertEqual(list(secrets_in(f"\nvalue = '{sample}'\n")), [(kind, 2)])


if __name__ == "__main__":
    unittest.main()
