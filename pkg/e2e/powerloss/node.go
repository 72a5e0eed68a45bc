// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import (
	"context"
	"syscall"
	"time"

	"github.com/hanwen/go-fuse/v2/fs"
	"github.com/hanwen/go-fuse/v2/fuse"
)

const directoryMode = uint32(syscall.S_IFDIR)

// node serves a file or a directory while it is mounted. Its children are the entries for programs.
type node struct {
	fs.Inode
	disk  *disk
	entry *entry
}

// The operations of a node for the kernel.
var (
	_ fs.NodeOnAdder   = &node{}
	_ fs.NodeGetattrer = &node{}
	_ fs.NodeSetattrer = &node{}
	_ fs.NodeStatfser  = &node{}
	_ fs.NodeOpener    = &node{}
	_ fs.NodeReader    = &node{}
	_ fs.NodeWriter    = &node{}
	_ fs.NodeAllocater = &node{}
	_ fs.NodeFsyncer   = &node{}
	_ fs.NodeFlusher   = &node{}
	_ fs.NodeCreater   = &node{}
	_ fs.NodeMkdirer   = &node{}
	_ fs.NodeMknoder   = &node{}
	_ fs.NodeUnlinker  = &node{}
	_ fs.NodeRmdirer   = &node{}
	_ fs.NodeRenamer   = &node{}
)

// OnAdd adds the entries on the disk.
func (n *node) OnAdd(ctx context.Context) {
	for name, entry := range n.entry.entries {
		n.AddChild(name, n.inode(ctx, entry), true)
	}
}

func (n *node) inode(ctx context.Context, entry *entry) *fs.Inode {
	return n.NewPersistentInode(ctx, &node{disk: n.disk, entry: entry}, fs.StableAttr{Mode: entry.mode & syscall.S_IFMT})
}

// Getattr returns the attributes of the entry.
func (n *node) Getattr(_ context.Context, _ fs.FileHandle, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.describe(&out.Attr)
	return fs.OK
}

func (n *node) describe(out *fuse.Attr) {
	out.Ino = n.StableAttr().Ino // the kernel identifies a socket by it
	out.Mode, out.Owner = n.entry.mode, fuse.Owner{Uid: n.entry.uid, Gid: n.entry.gid}
	out.Size, out.Nlink = uint64(len(n.entry.content.live)), 1
	out.SetTimes(nil, &n.entry.modified, &n.entry.modified)
}

// Setattr changes the attributes of the entry. All attributes but the size are durable immediately.
func (n *node) Setattr(_ context.Context, _ fs.FileHandle, in *fuse.SetAttrIn, out *fuse.AttrOut) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if mode, isSet := in.GetMode(); isSet {
		n.entry.mode = n.entry.mode&syscall.S_IFMT | mode&^syscall.S_IFMT
	}
	if uid, isSet := in.GetUID(); isSet {
		n.entry.uid = uid
	}
	if gid, isSet := in.GetGID(); isSet {
		n.entry.gid = gid
	}
	if modified, isSet := in.GetMTime(); isSet {
		n.entry.modified = modified
	}
	if size, isSet := in.GetSize(); isSet {
		n.entry.content.truncate(int64(size))
	}
	n.describe(&out.Attr)
	return fs.OK
}

// The size of the disk.
const (
	blockBytes = 4096
	diskBlocks = 4 << 30 / blockBytes
)

// Statfs returns the statistics of a disk that is never full.
func (*node) Statfs(_ context.Context, out *fuse.StatfsOut) syscall.Errno {
	*out = fuse.StatfsOut{Bsize: blockBytes, Frsize: blockBytes, Blocks: diskBlocks, Bfree: diskBlocks, Bavail: diskBlocks, NameLen: 255}
	return fs.OK
}

// Open opens the file without a cache for writes.
func (*node) Open(context.Context, uint32) (fs.FileHandle, uint32, syscall.Errno) {
	return nil, fuse.FOPEN_KEEP_CACHE, fs.OK
}

// Read reads the written data, durable or not.
func (n *node) Read(_ context.Context, _ fs.FileHandle, dest []byte, offset int64) (fuse.ReadResult, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	live := n.entry.content.live
	read := copy(dest, live[min(offset, int64(len(live))):])
	return fuse.ReadResultData(dest[:read]), fs.OK
}

// Write writes data that is not durable yet.
func (n *node) Write(_ context.Context, _ fs.FileHandle, data []byte, offset int64) (uint32, syscall.Errno) {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.entry.content.write(data, offset)
	n.entry.modified = time.Now()
	return uint32(len(data)), fs.OK
}

// keepSize is the mode of fallocate that does not change the size of a file.
const keepSize = 1

// Allocate makes the file longer.
func (n *node) Allocate(_ context.Context, _ fs.FileHandle, offset, size uint64, mode uint32) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	switch {
	case mode == keepSize:
	case mode != 0:
		return syscall.EOPNOTSUPP
	case offset+size > uint64(len(n.entry.content.live)):
		n.entry.content.truncate(int64(offset + size))
	}
	return fs.OK
}

// Fsync makes the writes of the file, or the changes of the directory, durable.
func (n *node) Fsync(context.Context, fs.FileHandle, uint32) syscall.Errno {
	if !n.disk.awaitSync() {
		return syscall.EIO
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.sync(n.entry)
	return fs.OK
}

// Flush does nothing: closing a file does not make it durable.
func (*node) Flush(context.Context, fs.FileHandle) syscall.Errno { return fs.OK }

// Create creates a file.
func (n *node) Create(ctx context.Context, name string, _, mode uint32, out *fuse.EntryOut) (*fs.Inode, fs.FileHandle, uint32, syscall.Errno) {
	return n.add(ctx, name, &entry{mode: syscall.S_IFREG | mode}, out), nil, fuse.FOPEN_KEEP_CACHE, fs.OK
}

// Mkdir creates a directory.
func (n *node) Mkdir(ctx context.Context, name string, mode uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, &entry{mode: directoryMode | mode, entries: map[string]*entry{}}, out), fs.OK
}

// Mknod creates a socket.
func (n *node) Mknod(ctx context.Context, name string, mode, _ uint32, out *fuse.EntryOut) (*fs.Inode, syscall.Errno) {
	return n.add(ctx, name, &entry{mode: mode}, out), fs.OK
}

func (n *node) add(ctx context.Context, name string, added *entry, out *fuse.EntryOut) *fs.Inode {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	if caller, isKnown := fuse.FromContext(ctx); isKnown {
		added.uid, added.gid = caller.Uid, caller.Gid
	}
	added.modified = time.Now()
	n.disk.link(n.entry, name, added)
	inode := n.inode(ctx, added)
	inode.Operations().(*node).describe(&out.Attr)
	return inode
}

// Unlink removes a file.
func (n *node) Unlink(_ context.Context, name string) syscall.Errno {
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.unlink(n.entry, name)
	return fs.OK
}

// Rmdir removes an empty directory.
func (n *node) Rmdir(ctx context.Context, name string) syscall.Errno {
	if len(n.GetChild(name).Children()) > 0 {
		return syscall.ENOTEMPTY
	}
	return n.Unlink(ctx, name)
}

// Rename renames an entry, and replaces an existing entry.
func (n *node) Rename(_ context.Context, name string, newParent fs.InodeEmbedder, newName string, flags uint32) syscall.Errno {
	if flags&fs.RENAME_EXCHANGE != 0 {
		return syscall.EINVAL
	}
	if replaced := newParent.EmbeddedInode().GetChild(newName); replaced != nil && len(replaced.Children()) > 0 {
		return syscall.ENOTEMPTY
	}
	n.disk.mu.Lock()
	defer n.disk.mu.Unlock()
	n.disk.rename(n.entry, name, newParent.(*node).entry, newName, n.GetChild(name).Operations().(*node).entry)
	return fs.OK
}
