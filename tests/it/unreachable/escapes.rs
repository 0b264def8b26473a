//! Ways out of a slot: what is tried, and what must stop it.

use team::isolation::Level;

/// One way to get at what is not the slot's own.
#[derive(Debug, Clone, Copy)]
pub(super) struct Escape {
    pub(super) name: &'static str,
    /// A piece of shell; `$S` is the session, `$B` the folder of sessions, `$V` a word on the victim's command line.
    pub(super) script: &'static str,
    /// The least that stops it.
    pub(super) stopped_by: Level,
    /// Whether it is known to work where nothing stops it: then the test itself is tested.
    pub(super) works: bool,
}

const fn contents(name: &'static str, script: &'static str) -> Escape {
    Escape { name, script, stopped_by: Level::Partial, works: true }
}

/// Needs a kernel, a file system or rights that may not be there even where nothing is held.
const fn maybe(name: &'static str, script: &'static str) -> Escape {
    Escape { name, script, stopped_by: Level::Partial, works: false }
}

/// Names and command lines, and shared folders, which Landlock leaves in sight.
const fn sight(name: &'static str, script: &'static str) -> Escape {
    Escape { name, script, stopped_by: Level::Enforced, works: true }
}

pub(super) const ABSTRACT_SOCKET: &str = "an abstract socket";

pub(super) const ESCAPES: &[Escape] = &[
    contents("a relative path", "cat ../../manifest.json"),
    contents("an absolute path", r#"cat "$S/manifest.json""#),
    contents("an answer that is complete", r#"cat "$S"/response-*.md"#),
    contents("another slot's folder", r#"cat "$S"/work/*/secret"#),
    contents("the record", r#"cat "$S/events.jsonl" "$S/status.json""#),
    contents("a search", r#"find "$B" -type f -exec cat {} +"#),
    contents("a search from above", r#"grep -rs . "${B%/*}/""#),
    contents("a symbolic link to the file", r#"ln -s "$S/manifest.json" l1; cat l1"#),
    contents("a symbolic link to the folder", "ln -s ../.. l2; cat l2/manifest.json"),
    contents("a hard link", r#"ln "$S/manifest.json" h1; cat h1"#),
    contents("a copy", r#"cp "$S/manifest.json" copy; cat copy"#),
    contents(
        "a path from its own environment",
        r#"env | tr ':=' '\n\n' | grep '^/' | while read -r p; do cat "$p/../../manifest.json"; done"#,
    ),
    contents(
        "a path from its own command line",
        r#"tr '\0' '\n' < /proc/$$/cmdline | grep -o '/[^ ]*' | while read -r p; do cat "${p%/*}"/ai-docs/sessions/*/manifest.json; done"#,
    ),
    contents(
        "an open directory of its own",
        r#"cat /proc/self/cwd/../../manifest.json /proc/$$/root"$S"/manifest.json"#,
    ),
    contents(
        "the folder of its standard input",
        r#"cat "$(readlink /proc/self/fd/0 | sed 's,[^/]*$,,')manifest.json""#,
    ),
    contents("the working directory of others", "cat /proc/[0-9]*/cwd/secret /proc/[0-9]*/cwd/../../manifest.json"),
    contents("the root of others", r#"for r in /proc/[0-9]*/root; do cat "$r$S/manifest.json"; done"#),
    contents(
        "the open files of others",
        r#"for f in /proc/[0-9]*/fd/*; do case "$f" in /proc/$$/*|/proc/self/*) ;; *) [ -f "$f" ] && head -c 400 "$f";; esac; done"#,
    ),
    contents("the environment of others", r"cat /proc/[0-9]*/environ | tr '\0' '\n'"),
    sight("the command lines of others", r"cat /proc/[0-9]*/cmdline | tr '\0' '\n'"),
    sight(
        "temporary files of others",
        r#"cat /tmp/narwhal-* /var/tmp/narwhal-* /dev/shm/narwhal-* "${TMPDIR:-/tmp}"/narwhal-*"#,
    ),
    maybe(
        "a nested namespace: the mounts taken away",
        r#"unshare -Urm sh -c 'umount -l "$B"; umount "$B"; cat "$S/manifest.json"'"#,
    ),
    maybe(
        "a nested namespace: a bind of the root",
        r#"mkdir m2; unshare -Urm sh -c 'mount --bind / m2 && cat "m2$S/manifest.json"; mount --rbind / m2; umount -l "m2$B"; cat "m2$S/manifest.json"'"#,
    ),
    maybe(
        "a nested namespace: a bind of the folder above",
        r#"mkdir m3; unshare -Urm sh -c 'mount --bind "${B%/*}" m3; cat "m3/${B##*/}"/*/manifest.json'"#,
    ),
    maybe(
        "a nested namespace: an overlay",
        r#"mkdir m4; unshare -Urm sh -c 'for l in / "${B%/*}" "$B"; do mount -t overlay -o "lowerdir=$l:/usr" none m4 && cat "m4$S/manifest.json" m4/sessions/*/manifest.json m4/*/manifest.json; umount m4; done'"#,
    ),
    maybe(
        "a nested namespace: another root",
        r#"mkdir -p m5/old; unshare -Urm sh -c 'mount --rbind / m5; cd m5; mkdir -p tmp/o; pivot_root . tmp/o; umount -l "$B"; cat "$S/manifest.json" "/tmp/o$S/manifest.json"; cd /; chroot . cat "$S/manifest.json"'"#,
    ),
    maybe(
        "a nested namespace: the processes",
        r#"unshare -Urmpf --mount-proc sh -c 'cat /proc/[0-9]*/root"$S"/manifest.json /proc/[0-9]*/environ'"#,
    ),
    maybe(
        "the namespace of others",
        r#"for p in 1 $PPID; do nsenter -t $p -m -- cat "$S/manifest.json"; nsenter -t $p -a -- cat "$S/manifest.json"; done"#,
    ),
    maybe("the supervisor's memory", "cat /proc/1/environ /proc/1/maps /proc/1/mem"),
    maybe("a file handle", HANDLE),
    maybe("a trace of the victim", TRACE),
    contents(ABSTRACT_SOCKET, SOCKET),
    Escape {
        name: "a disk",
        stopped_by: Level::Enforced,
        works: false,
        script: r#"for d in /dev/* /dev/*/*; do [ -b "$d" ] && dd if="$d" bs=512 count=1 2>/dev/null | grep -q . && echo NARWHAL-DISK; done"#,
    },
];

/// Only where something stops them: these would ruin the session, or the machine.
pub(super) const RUIN: &[(&str, &str)] = &[
    ("the mounts taken away", r#"umount -l "$B"; umount -l "$S/work"; cat "$S/manifest.json""#),
    (
        "a mount on top",
        r#"mkdir m1; mount --bind "$B" m1; cat m1/*/manifest.json; mount -t tmpfs none "$B"; cat "$S/manifest.json""#,
    ),
    ("the manifest overwritten", r#"echo ruined > "$S/manifest.json""#),
    ("the record cut", r#": > "$S/events.jsonl""#),
    ("an answer planted", r#"echo planted > "$S/response-01.md"; echo planted > "$S/response-99.md""#),
    ("another slot's folder written to", r#"for w in "$S"/work/*; do echo planted > "$w/planted"; done"#),
    ("the prompt overwritten", r#"echo ruined > "$S/input.md"; echo ruined > /proc/self/fd/0"#),
    ("the session moved", r#"mv "$S" "$B/gone"; mv "$B" "$B-gone""#),
    ("the session removed", r#"rm -rf "$B"/*/manifest.json "$B"/*/events.jsonl"#),
];

/// The handles of all inodes near its own: those of ext4 are a number and a generation, of which 0 fits any.
const HANDLE: &str = r#"perl -e '
    my $open_by = `uname -m` =~ /aarch64/ ? 265 : 304;
    open(my $root, "<", "/") or exit;
    my $inode = (stat("."))[1];
    for my $guess (($inode - 500) .. ($inode + 500)) {
        my $handle = pack("IiII", 8, 1, $guess, 0);
        my $fd = syscall($open_by, fileno($root), $handle, 0);
        next if $fd < 0;
        open(my $file, "<&=", $fd) or next;
        next unless -f $file;
        read($file, my $text, 9999); print $text if ($text // "") =~ /NARWHAL|shuffleOrder/;
    }'"#;

/// Attaches to the victim, found by its command line, and to the first process.
const TRACE: &str = r#"perl -e '
    my $ptrace = `uname -m` =~ /aarch64/ ? 117 : 101;
    for my $entry (glob("/proc/[0-9]*")) {
        my ($pid) = $entry =~ /(\d+)$/;
        open(my $line, "<", "$entry/cmdline") or next;
        local $/; my $text = <$line> // "";
        next unless $pid == 1 && $text =~ /__init/ || $text =~ /$ENV{V}/ && $text !~ /perl|escape/;
        next if syscall($ptrace, 16, $pid + 0, 0, 0) != 0;
        print "NARWHAL-TRACE $pid\n";
        waitpid($pid, 0x40000000);
        syscall($ptrace, 17, $pid + 0, 0, 0);
    }'"#;

/// `$TAG` is filled in before it runs.
const SOCKET: &str = r#"perl -MSocket -e '
    socket(my $s, AF_UNIX, SOCK_STREAM, 0);
    connect($s, pack("S a*", AF_UNIX, "\0narwhal-$TAG")) and print <$s>;'"#;
