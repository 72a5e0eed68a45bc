// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	clientv3 "go.etcd.io/etcd/client/v3"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/snapshot"
)

const (
	// cutsVariable is the environment variable with the number of cuts for each row of TestEtcdSurvivesACutAtEverySync.
	cutsVariable = "MODELBOX_E2E_CUTS"
	defaultCuts  = 3
)

// stored is what an etcd has.
type stored struct {
	content  map[string]string
	revision int64
}

// cutTest is some work that cuts interrupt.
type cutTest struct {
	work string
	// hasEtcd is whether there is a small etcd before the work.
	hasEtcd bool
	// check checks the etcd that is left by a cut, nil for none. acknowledged is the number of steps that the work has acknowledged.
	check func(t *testing.T, left *stored, acknowledged int)
	// repeat does the work again.
	repeat work
}

// TestEtcdSurvivesACutAtEverySync cuts the power at the syncs of programs that write to etcd, restore a snapshot and raise the revision.
// Each time, etcd must start, and have everything that the program has acknowledged.
func TestEtcdSurvivesACutAtEverySync(t *testing.T) {
	source := newDir(t)
	small := contentAfter(writeSteps()[:3])
	makeSource(t, source, small)
	for _, row := range []cutTest{
		{
			work: "write",
			check: func(t *testing.T, left *stored, acknowledged int) {
				if left == nil {
					framework.ExpectEqual(t, "acknowledged steps without an etcd", 0, acknowledged)
					return
				}
				// The next step may have been done as well.
				steps := writeSteps()
				missing := cmp.Diff(contentAfter(steps[:acknowledged]), left.content)
				if missing != "" && cmp.Diff(contentAfter(steps[:min(acknowledged+1, len(steps))]), left.content) != "" {
					t.Errorf("content after %d steps, -want +got:\n%s", acknowledged, missing)
				}
			},
		},
		{
			work: "restore",
			check: func(t *testing.T, left *stored, acknowledged int) {
				if left == nil {
					framework.ExpectEqual(t, "acknowledged restores without an etcd", 0, acknowledged)
					return
				}
				expectStored(t, left, small, snapshot.RevisionBump)
			},
			repeat: doRestore,
		},
		{
			work:    "raise",
			hasEtcd: true,
			check: func(t *testing.T, left *stored, acknowledged int) {
				expectStored(t, left, small, int64(acknowledged)*raisedRevision)
			},
			repeat: doRaise,
		},
	} {
		t.Run(row.work, func(t *testing.T) {
			cuts := framework.Setting(t, cutsVariable, defaultCuts, strconv.Atoi)
			syncs := row.cut(t, source, math.MaxInt)
			// The last place is after the work.
			places := rand.Perm(syncs + 1)
			for i := range cuts {
				after := places[i%len(places)]
				row.cut(t, source, after)
				if t.Failed() {
					t.Fatalf("the power was cut after %d of %d syncs", after, syncs)
				}
			}
			t.Logf("%d cuts at %d syncs", cuts, syncs)
		})
	}
}

// newDir creates a directory. It does not use TMPDIR, which may be too long for the path of a socket.
func newDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/tmp", "mb-cut-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// makeSource makes a directory "data" with an etcd that has the content, and its snapshot.
func makeSource(t *testing.T, dir string, content map[string]string) {
	t.Helper()
	if err := withEtcd(t.Context(), filepath.Join(dir, "data"), func(client *clientv3.Client) error {
		for key, value := range content {
			if _, err := client.Put(t.Context(), key, value); err != nil {
				return err
			}
		}
		_, err := snapshot.Save(t.Context(), client, filepath.Join(dir, "snapshot"))
		return err
	}); err != nil {
		t.Fatal(err)
	}
}

// cut cuts the power after a number of syncs of the work, or after the work, and checks what is left. It returns the number of syncs.
func (c *cutTest) cut(t *testing.T, source string, after int) (syncs int) {
	t.Helper()
	parent := newDir(t)
	defer os.RemoveAll(parent)
	disk := filepath.Join(parent, "disk")
	if err := errors.Join(os.Mkdir(disk, 0o700), os.Symlink(filepath.Join(source, "snapshot"), filepath.Join(parent, "snapshot"))); err != nil {
		t.Fatal(err)
	}
	system, err := Mount(disk, rand.Uint64())
	if err != nil {
		t.Skipf("a file system of the test's own needs FUSE and root: %v", err)
	}
	defer func() {
		if err := system.Unmount(); err != nil {
			t.Error(err)
		}
	}()
	if c.hasEtcd {
		run(t, disk, "tar --directory="+source+" --create data | tar --extract; find . -exec sync {} +")
	}
	before := system.Syncs()
	acknowledged := c.do(t, system, filepath.Join(disk, "data"), after)
	syncs = system.Syncs() - before
	if err := system.Cut(); err != nil {
		t.Fatal(err)
	}
	run(t, parent, "cp --archive disk left")
	left := filepath.Join(parent, "left", "data")
	found := read(t, left)
	c.check(t, found, acknowledged)
	// A user whose command was interrupted repeats it. A snapshot is not restored over an etcd.
	if c.repeat != nil && (found == nil || c.hasEtcd) {
		if err := c.repeat(t.Context(), left, io.Discard); err != nil {
			t.Errorf("repeating the work: %v", err)
		}
		c.check(t, read(t, left), 1)
	}
	return syncs
}

// do does the work in another process, and kills it at the sync after the given number of syncs. It returns the number of acknowledged
// steps.
func (c *cutTest) do(t *testing.T, system *FileSystem, dir string, after int) (acknowledged int) {
	t.Helper()
	waiting := system.HoldSyncs(after)
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), program)
	command.Env = append(os.Environ(), workVariable+"="+c.work, dirVariable+"="+dir)
	var output, complaint bytes.Buffer
	command.Stdout, command.Stderr = &output, &complaint
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	select {
	case <-waiting:
		if err := command.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		system.ReleaseSyncs()
		<-ended
	case err := <-ended:
		system.ReleaseSyncs()
		if err != nil {
			t.Fatalf("%s: %v: %s", c.work, err, complaint.String())
		}
	}
	return strings.Count(output.String(), acknowledgement+"\n")
}

// read returns what the etcd in a directory has, nil for none.
func read(t *testing.T, dir string) *stored {
	t.Helper()
	if !embeddedetcd.Exists(dir) {
		return nil
	}
	ctx, cancel := context.WithTimeout(t.Context(), workDeadline)
	defer cancel()
	found := &stored{content: map[string]string{}}
	if err := withEtcd(ctx, dir, func(client *clientv3.Client) error {
		response, err := client.Get(ctx, keyPrefix, clientv3.WithPrefix())
		if err != nil {
			return err
		}
		found.revision = response.Header.Revision
		for _, kv := range response.Kvs {
			found.content[string(kv.Key)] = strings.TrimRight(string(kv.Value), " ")
		}
		return nil
	}); err != nil {
		t.Errorf("reading what is left: %v", err)
	}
	return found
}

func expectStored(t *testing.T, left *stored, content map[string]string, revision int64) {
	t.Helper()
	framework.ExpectEqual(t, "content", content, left.content)
	if left.revision < revision {
		t.Errorf("the revision is %d, less than %d", left.revision, revision)
	}
}
