// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package workdir

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/cgroup"
	"github.com/sharelinuxs/modelbox-apiserver/hack/localcluster/supervisor"
)

// leftoverPatience is the timeout for killed parts of an earlier cluster to end.
const leftoverPatience = 10 * time.Second

// ErrClaimed is returned if another process runs a cluster in the directory.
var ErrClaimed = errors.New("a cluster runs there already")

// Claim is an exclusive lock of a directory for a cluster. The kernel releases it when the process ends for any reason.
type Claim struct {
	Dir
	lock *os.File
}

// Claim locks the directory. It returns ErrClaimed if the directory is already locked. It ends all processes of an earlier cluster,
// and removes its files except for logs.
func (d Dir) Claim() (*Claim, error) {
	lock, err := d.lock()
	if err != nil {
		return nil, fmt.Errorf("claiming %s: %w", d, err)
	}
	claim := &Claim{Dir: d, lock: lock}
	if err := claim.Clear(); err != nil {
		claim.Release()
		return nil, err
	}
	return claim, nil
}

func (d Dir) lock() (*os.File, error) {
	if err := d.Usable(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(string(d), 0o755); err != nil {
		return nil, err
	}
	lock, err := os.OpenFile(d.lockFile(), os.O_CREATE|os.O_RDWR, 0o644)
	if err != nil {
		return nil, err
	}
	// A process that checks for the holder has the lock for a moment.
	for deadline := time.Now().Add(time.Second); ; time.Sleep(20 * time.Millisecond) {
		err = syscall.Flock(int(lock.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if err != syscall.EWOULDBLOCK || time.Now().After(deadline) {
			break
		}
	}
	if err == syscall.EWOULDBLOCK {
		err = ErrClaimed
	}
	if err == nil {
		err = writeOver(lock, strconv.Itoa(os.Getpid())+"\n")
	}
	if err != nil {
		lock.Close()
		return nil, err
	}
	return lock, nil
}

// Clear ends the processes of an earlier cluster and removes its state.
func (c *Claim) Clear() error {
	ctx, cancel := context.WithTimeout(context.Background(), leftoverPatience)
	defer cancel()
	if err := supervisor.KillLeftovers(ctx, string(c.Dir), c.Run()); err != nil {
		return fmt.Errorf("ending what an earlier cluster left: %w", err)
	}
	if _, err := os.Stat(c.Node()); err == nil {
		if err := cgroup.Remove(c.ID()); err != nil {
			return fmt.Errorf("removing what an earlier cluster left: %w", err)
		}
	}
	return c.removeState()
}

// Prepare creates the directories for a new cluster, and removes the logs of the former one.
func (c *Claim) Prepare() error {
	if err := c.removeLogs(); err != nil {
		return err
	}
	return c.createFolders()
}

// Release releases the lock of the directory.
func (c *Claim) Release() { c.lock.Close() }

// Holder returns the process with the claim, nil if there is none.
func (d Dir) Holder() (*os.Process, error) {
	lock, err := os.Open(d.lockFile())
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("opening the lock: %w", err)
	}
	defer lock.Close()

	err = syscall.Flock(int(lock.Fd()), syscall.LOCK_SH|syscall.LOCK_NB)
	if err == nil {
		return nil, nil
	}
	if err != syscall.EWOULDBLOCK {
		return nil, fmt.Errorf("trying the lock: %w", err)
	}
	content, err := os.ReadFile(d.lockFile())
	if err != nil {
		return nil, fmt.Errorf("reading the lock: %w", err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(content)))
	if err != nil {
		return nil, fmt.Errorf("reading the lock: %w", err)
	}
	holder, err := os.FindProcess(pid)
	if err != nil {
		return nil, fmt.Errorf("opening process %d: %w", pid, err)
	}
	// The PID may be of an earlier holder, and belong to another process now.
	if !hasOpen(pid, d.lockFile()) {
		return nil, fmt.Errorf("process %d no longer holds %s", pid, d.lockFile())
	}
	return holder, nil
}

// Exists returns whether a cluster runs or has run in the directory.
func (d Dir) Exists() bool {
	_, err := os.Stat(d.lockFile())
	return err == nil
}

// Usable returns an error for a directory with other files, because a user may have a directory data or config there.
func (d Dir) Usable() error {
	if d.Exists() {
		return nil
	}
	entries, err := os.ReadDir(string(d))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, entry := range entries {
		if entry.Name() != filepath.Base(d.Logs()) {
			return fmt.Errorf("not a cluster's folder: %s is in it", entry.Name())
		}
	}
	return nil
}

func (d Dir) lockFile() string { return d.path("localcluster.lock") }

func hasOpen(pid int, path string) bool {
	want, err := os.Stat(path)
	if err != nil {
		return false
	}
	descriptors, _ := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	for _, descriptor := range descriptors {
		if got, err := os.Stat(descriptor); err == nil && os.SameFile(got, want) {
			return true
		}
	}
	return false
}

func writeOver(file *os.File, content string) error {
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err := file.WriteAt([]byte(content), 0)
	return err
}
