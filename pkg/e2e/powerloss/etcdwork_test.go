// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package powerloss

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/embeddedetcd"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/storage/snapshot"
)

const (
	// workVariable is the environment variable with the work that this program does instead of the tests. dirVariable has the directory
	// of the etcd.
	workVariable = "MODELBOX_E2E_POWERLOSS_WORK"
	dirVariable  = "MODELBOX_E2E_POWERLOSS_DIR"
	workDeadline = 2 * time.Minute

	// acknowledgement is the line that work writes after each step that must survive a cut.
	acknowledgement = "acknowledged"

	// etcd has the smallest quota, so that few writes make a compaction and a defragmentation necessary.
	quotaBytes = embeddedetcd.MinQuotaBytes
	valueBytes = 256 << 10
	keyPrefix  = "box/"

	// raisedRevision is a revision that the writes do not reach.
	raisedRevision = 1_000_000
)

// work is done with the etcd in a directory. It writes an acknowledgement after each step that must survive a cut.
type work func(ctx context.Context, dir string, out io.Writer) error

// works are what the program does with an etcd while the power is cut.
var works = map[string]work{
	"write":   doWrites,
	"restore": doRestore,
	"raise":   doRaise,
}

func TestMain(m *testing.M) {
	if name := os.Getenv(workVariable); name != "" {
		ctx, cancel := context.WithTimeout(context.Background(), workDeadline)
		defer cancel()
		if err := works[name](ctx, os.Getenv(dirVariable), os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// step puts or deletes a key, or waits until etcd was compacted and defragmented.
type step struct {
	key, value string
	isDeletion bool
	awaits     bool
}

// writeSteps fill etcd, delete most keys, and write again when etcd is small.
func writeSteps() []step {
	const filling, deleted, more = 48, 40, 12
	var steps []step
	put := func(i int) step {
		return step{key: fmt.Sprintf("%s%02d", keyPrefix, i), value: fmt.Sprint("value of step ", len(steps))}
	}
	for i := range filling {
		steps = append(steps, put(i))
	}
	for i := range deleted {
		steps = append(steps, step{key: put(i).key, isDeletion: true})
	}
	steps = append(steps, step{awaits: true})
	for i := range more {
		steps = append(steps, put(deleted-more/2+i))
	}
	return steps
}

// contentAfter returns the values of the keys after the first steps.
func contentAfter(steps []step) map[string]string {
	content := map[string]string{}
	for _, step := range steps {
		switch {
		case step.awaits:
		case step.isDeletion:
			delete(content, step.key)
		default:
			content[step.key] = step.value
		}
	}
	return content
}

func doWrites(ctx context.Context, dir string, out io.Writer) error {
	return withEtcd(ctx, dir, func(client *clientv3.Client) error {
		for _, step := range writeSteps() {
			// On a busy machine, a request can time out. It may be done all the same, and has the same effect a second time.
			err := step.do(ctx, client)
			for err != nil && ctx.Err() == nil {
				err = step.do(ctx, client)
			}
			if err != nil {
				return err
			}
			fmt.Fprintln(out, acknowledgement)
		}
		return nil
	})
}

func (s *step) do(ctx context.Context, client *clientv3.Client) error {
	switch {
	case s.awaits:
		return awaitMaintenance(ctx)
	case s.isDeletion:
		_, err := client.Delete(ctx, s.key)
		return err
	default:
		_, err := client.Put(ctx, s.key, s.value+strings.Repeat(" ", valueBytes))
		return err
	}
}

// awaitMaintenance waits until etcd was compacted and defragmented.
func awaitMaintenance(ctx context.Context) error {
	return wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(context.Context) (bool, error) {
		families, err := legacyregistry.DefaultGatherer.Gather()
		done := map[string]bool{}
		for _, family := range families {
			done[family.GetName()] = family.GetMetric()[0].GetCounter().GetValue() > 0
		}
		return done["modelbox_storage_compactions_total"] && done["modelbox_storage_defragmentations_total"], err
	})
}

// snapshotFor returns the path of the snapshot that is restored to a directory. It is on another disk.
func snapshotFor(dir string) string { return filepath.Join(dir, "..", "..", "snapshot") }

func doRestore(ctx context.Context, dir string, out io.Writer) error {
	if _, err := snapshot.Restore(ctx, snapshotFor(dir), dir); err != nil {
		return err
	}
	fmt.Fprintln(out, acknowledgement)
	return nil
}

func doRaise(_ context.Context, dir string, out io.Writer) error {
	if err := embeddedetcd.RaiseRevision(dir, raisedRevision); err != nil {
		return err
	}
	fmt.Fprintln(out, acknowledgement)
	return nil
}

// withEtcd does something with an etcd that runs in this process meanwhile.
func withEtcd(ctx context.Context, dir string, do func(client *clientv3.Client) error) (err error) {
	etcd, err := embeddedetcd.Start(ctx, embeddedetcd.Config{Dir: dir, QuotaBackendBytes: quotaBytes})
	if err != nil {
		return err
	}
	defer etcd.Stop()
	endpoint, err := embeddedetcd.Endpoint(dir)
	if err != nil {
		return err
	}
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{endpoint}})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	return do(client)
}
