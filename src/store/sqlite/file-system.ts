import { readFileSync, realpathSync, statfsSync } from 'node:fs';
import { refuse, type Refusal } from '../../kernel/refusal.ts';

/** A mount as proc_pid_mountinfo(5) describes it. */
interface Mount {
  readonly at: string;
  readonly type: string;
  readonly source: string;
  readonly options: string;
}

/**
 * The numbers by which the system tells file systems that may be on another machine (statfs(2)): NFS, SMB in its three
 * forms, 9p, AFS, Coda, Ceph, FUSE, and the ones of the Windows subsystem. They are only worth a second look.
 */
const suspects: ReadonlySet<number> = new Set([
  0x69_69, 0x51_7b, 0xff_53_4d_42, 0xfe_53_4d_42, 0x01_02_19_97, 0x53_46_41_4f, 0x73_75_72_45, 0x00_c3_64_00,
  0x65_73_55_46, 0x53_46_48_46,
]);

/** File systems on which locks and shared memory do not hold between machines, or between a machine and its guest. */
const unsafeTypes =
  /^(?:nfs\d*|cifs|smb\d*|smbfs|afs|coda|ceph|drvfs|ncpfs|vboxsf|vmhgfs|prl_fs|fuse\.(?:sshfs|rclone|s3fs|gcsfuse|vmhgfs-fuse|glusterfs|smbnetfs|grpcfuse|davfs\d?))$/;

/** What the system says of its file systems; replaced in tests. */
export interface MountTable {
  /** The number of the type of the file system that holds a path; undefined where nobody knows. */
  readonly typeOf: (path: string) => number | undefined;
  /** The text of `/proc/self/mountinfo`. */
  readonly read: () => string;
}

/** The mount table of this machine. */
export const systemMounts: MountTable = {
  typeOf: (path) => {
    try {
      return process.platform === 'linux' ? statfsSync(path).type : undefined;
    } catch {
      return undefined;
    }
  },
  read: () => {
    try {
      return readFileSync('/proc/self/mountinfo', 'utf8');
    } catch {
      return '';
    }
  },
};

/** Why a store must not lie in this folder, by the file system it is on; undefined where it may. */
export const refuseFileSystem = (folder: string, mounts: MountTable): Refusal | undefined => {
  const type = mounts.typeOf(folder);
  if (type === undefined || !suspects.has(type >>> 0)) return undefined;
  const mount = mountOf(real(folder), parseMounts(mounts.read()));
  if (mount === undefined || !isUnsafe(mount)) return undefined;
  return refuse(
    'invariant-unmet',
    `The folder ${folder} is on ${mount.type} (${mount.source}): file locks and shared memory do not hold there, and two writers would damage the store.`,
    {
      expected: 'a store on a disk of this machine',
      hint: 'name one with --store or STINT_STORE; where really nobody else ever uses this one, set STINT_UNSAFE_FILE_SYSTEM=allow',
    },
  );
};

const isUnsafe = ({ type, options }: Mount): boolean =>
  unsafeTypes.test(type) ||
  // 9p is how Windows drives come into the subsystem, and how folders of a host come into a virtual machine; a sandbox that
  // serves its own root by it over descriptors keeps locks and memory to itself.
  (type === '9p' &&
    (/(?:^|[,;])aname=drvfs/.test(options) || /(?:^|,)trans=(?:virtio|tcp|unix|rdma|xen)/.test(options)));

/** The mounts of a mount table, in order. */
const parseMounts = (text: string): readonly Mount[] =>
  text.split('\n').flatMap((line) => {
    const [front = '', back = ''] = line.split(' - ');
    const [, , , , at] = front.split(' ');
    const [type, source = '', options = ''] = back.split(' ');
    return at === undefined || type === undefined
      ? []
      : [{ at: unescape(at), type, source: unescape(source), options }];
  });

/** The mount that a path lies on: the longest one that holds it, and of several at one place the last. */
const mountOf = (path: string, mounts: readonly Mount[]): Mount | undefined => {
  let found: Mount | undefined;
  for (const mount of mounts) {
    const holds = mount.at === '/' || path === mount.at || path.startsWith(`${mount.at}/`);
    if (holds && mount.at.length >= (found?.at.length ?? 0)) found = mount;
  }
  return found;
};

/** Blanks, tabs, line ends and backslashes stand there as octal numbers. */
const unescape = (text: string): string =>
  text.replaceAll(/\\([0-7]{3})/g, (_, octal: string) => String.fromCodePoint(Number.parseInt(octal, 8)));

const real = (path: string): string => {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
};
