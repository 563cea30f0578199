#include "policy/known_programs.h"

#include <algorithm>
#include <array>

namespace outhaul::policy {
namespace {

using Names = std::initializer_list<std::string_view>;

bool holds(Names names, std::string_view name) { return std::ranges::find(names, name) != names.end(); }

// "python3.11" is python, "perl5.36" is perl.
std::string_view without_version(std::string_view name) {
  while (!name.empty() &&
         (('0' <= name.back() && name.back() <= '9') || name.back() == '.' || name.back() == '-')) {
    name.remove_suffix(1);
  }
  return name;
}

}  // namespace

bool is_privileged_program(std::string_view name) {
  if (name.starts_with("mkfs.") || name.starts_with("mount.") || name.starts_with("umount.") ||
      name.starts_with("fsck.")) {
    return true;
  }
  return holds(
      {"blkdiscard",   "capsh",       "chpasswd",  "chroot",     "cryptsetup",  "dmsetup",  "doas",
       "efibootmgr",   "fdisk",       "fsck",      "fusermount", "fusermount3", "gdisk",    "gpasswd",
       "grub-install", "groupadd",    "groupdel",  "groupmod",   "halt",        "hwclock",  "init",
       "insmod",       "iptables",    "ip6tables", "kexec",      "losetup",     "lvcreate", "lvremove",
       "mkfs",         "mkswap",      "modprobe",  "mount",      "newgidmap",   "newgrp",   "newuidmap",
       "nft",          "nsenter",     "parted",    "passwd",     "pivot_root",  "pkexec",   "poweroff",
       "pvcreate",     "reboot",      "rmmod",     "run0",       "runuser",     "setcap",   "setpriv",
       "sfdisk",       "sg",          "shutdown",  "su",         "sudo",        "sudoedit", "swapoff",
       "swapon",       "switch_root", "sysctl",    "systemctl",  "systemd-run", "telinit",  "umount",
       "unshare",      "useradd",     "userdel",   "usermod",    "vgremove",    "vipw",     "visudo",
       "wipefs"},
      name);
}

bool is_shell(std::string_view name) {
  return holds({"sh", "bash", "dash", "ash", "ksh", "mksh", "zsh", "rbash", "yash"}, name);
}

bool is_interpreter(std::string_view name) {
  if (is_shell(name)) return true;
  const auto plain = without_version(name);
  return holds({"awk",    "gawk",    "mawk",   "nawk",     "busybox", "toybox",  "csh",    "tcsh",   "fish",
                "node",   "nodejs",  "deno",   "bun",      "perl",    "php",     "python", "pypy",   "ruby",
                "lua",    "luajit",  "tclsh",  "wish",     "expect",  "guile",   "java",   "jshell", "scala",
                "R",      "Rscript", "octave", "julia",    "erl",     "escript", "elixir", "iex",    "ghci",
                "runghc", "ocaml",   "gdb",    "lldb",     "make",    "gmake",   "ninja",  "sed",    "env",
                "xargs",  "find",    "vi",     "vim",      "nvim",    "ed",      "ex",     "emacs",  "tar",
                "ssh",    "git",     "pwsh",   "parallel", "nohup",   "timeout", "nice",   "setsid", "stdbuf",
                "strace", "ltrace",  "script", "docker",   "podman",  "npm",     "npx",    "pip",    "cargo",
                "go"},
               plain);
}

bool is_shell_builtin(std::string_view name) {
  return holds({".",        ":",       "[",      "alias", "bg",      "break",  "builtin", "cd",   "command",
                "continue", "echo",    "eval",   "exec",  "exit",    "export", "false",   "fc",   "fg",
                "getopts",  "hash",    "jobs",   "kill",  "let",     "local",  "printf",  "pwd",  "read",
                "readonly", "return",  "set",    "shift", "source",  "test",   "times",   "trap", "true",
                "type",     "typeset", "ulimit", "umask", "unalias", "unset",  "wait"},
               name);
}

}  // namespace outhaul::policy
