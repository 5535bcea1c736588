//! Directories of the host that are on a local disk, by the kernel's list of mounts.

use std::{
    collections::BTreeSet,
    ffi::OsString,
    fs,
    os::unix::ffi::{OsStrExt as _, OsStringExt as _},
    path::{Path, PathBuf},
};

/// File systems on this machine's own disks and memory: a call returns soon, whatever others do.
const LOCAL_FILE_SYSTEMS: [&str; 22] = [
    "bcachefs", "btrfs", "erofs", "exfat", "ext2", "ext3", "ext4", "f2fs", "hfsplus", "iso9660", "jfs",
    "minix", "ntfs3", "overlay", "ramfs", "reiserfs", "squashfs", "tmpfs", "udf", "vfat", "xfs", "zfs",
];

/// Virtual file systems of the kernel, which hold no data.
const KERNEL_FILE_SYSTEMS: [&str; 19] = [
    "binfmt_misc",
    "bpf",
    "cgroup",
    "cgroup2",
    "configfs",
    "debugfs",
    "devpts",
    "devtmpfs",
    "efivarfs",
    "fusectl",
    "hugetlbfs",
    "mqueue",
    "nsfs",
    "proc",
    "pstore",
    "rpc_pipefs",
    "securityfs",
    "sysfs",
    "tracefs",
];

/// Properties of the file systems at and below a directory.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct MountInfo {
    /// Whether a call may block on another machine, or on a program that serves files.
    pub(super) may_block: bool,
    /// Devices of file systems whose files must not be opened.
    pub(super) kernel: BTreeSet<u64>,
    /// Kind of the directory's own file system, if it is a virtual one of the kernel.
    pub(super) is_kernel: Option<String>,
}

/// Returns the mounts at and below `dir`, a path without links. Without the kernel's list every call may block.
pub(super) fn at_and_below(dir: &Path) -> MountInfo {
    match fs::read_to_string("/proc/self/mountinfo") {
        Ok(table) => read(&table, dir),
        Err(_) => MountInfo { may_block: true, ..MountInfo::default() },
    }
}

struct Mount {
    device: u64,
    point: PathBuf,
    kind: String,
}

fn read(table: &str, dir: &Path) -> MountInfo {
    let mounts: Vec<_> = table.lines().filter_map(mount).collect();
    // The last of several mounts at one point covers the others.
    let own = mounts.iter().filter(|mount| dir.starts_with(&mount.point));
    let own = own.max_by_key(|mount| mount.point.as_os_str().len());
    let below = mounts.iter().filter(|mount| mount.point.starts_with(dir) && mount.point != dir);
    let mut info = MountInfo { may_block: own.is_none(), ..MountInfo::default() };
    for mount in own.into_iter().chain(below) {
        if KERNEL_FILE_SYSTEMS.contains(&&*mount.kind) {
            info.kernel.insert(mount.device);
        } else if !LOCAL_FILE_SYSTEMS.contains(&&*mount.kind) {
            info.may_block = true;
        }
    }
    info.is_kernel =
        own.map(|mount| mount.kind.clone()).filter(|kind| KERNEL_FILE_SYSTEMS.contains(&&**kind));
    info
}

/// Parses a line: `36 35 98:0 /root /point options optional… - kind source options`.
fn mount(line: &str) -> Option<Mount> {
    let (left, right) = line.split_once(" - ")?;
    let mut left = left.split(' ').skip(2);
    let (major, minor) = left.next()?.split_once(':')?;
    let device = rustix::fs::makedev(major.parse().ok()?, minor.parse().ok()?);
    let point = unescape(left.nth(1)?);
    Some(Mount { device, point, kind: right.split(' ').next()?.to_owned() })
}

/// Replaces octal escapes: `\040` is a space.
fn unescape(text: &str) -> PathBuf {
    let mut parts = text.split('\\');
    let mut bytes = parts.next().unwrap_or_default().as_bytes().to_vec();
    for part in parts {
        let (code, rest) = part.split_at_checked(3).unwrap_or((part, ""));
        bytes.extend(u8::from_str_radix(code, 8).ok());
        bytes.extend(OsString::from(rest).as_bytes());
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TABLE: &str = r"22 27 0:21 / /proc rw,relatime - proc proc rw
27 1 254:1 / / rw - ext4 /dev/vda1 rw
30 27 0:30 / /srv/with\040space/nfs rw shared:4 - nfs4 server:/x rw
31 27 0:31 / /home rw - xfs /dev/vdb rw
32 27 0:32 / /mine rw - fuse.sshfs me rw
33 27 0:33 / /twice rw - fuse x rw
34 33 0:34 / /twice rw - tmpfs x rw
";

    /// R-I18.
    #[test]
    fn mounts_tell_whether_a_call_may_block() {
        let rows = [
            ("/home/me", false, 0, None),
            ("/srv", true, 0, None),
            ("/srv/with space", true, 0, None),
            ("/srv/with space/nfs/deep", true, 0, None),
            ("/srv/other", false, 0, None),
            ("/mine", true, 0, None),
            ("/twice/x", false, 0, None),
            ("/", true, 1, None),
            ("/proc/self", false, 1, Some("proc")),
        ];
        for (dir, may_block, kernel, is_kernel) in rows {
            let found = read(TABLE, Path::new(dir));
            let found = (found.may_block, found.kernel.len(), found.is_kernel.as_deref());
            assert_eq!(found, (may_block, kernel, is_kernel), "{dir}");
        }
        assert!(read("", Path::new("/x")).may_block);
    }
}
