// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/client-go/tools/cache"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

// growthVariable is the environment variable that enables the tests of make test-growth.
const growthVariable = "MODELBOX_E2E_GROWTH"

// TestStoreMovesOutAndBack moves the store from the embedded etcd to an external etcd of three members and back, with the commands
// of docs/growth.md. It is not parallel, because it starts servers.
func TestStoreMovesOutAndBack(t *testing.T) {
	if os.Getenv(growthVariable) == "" {
		t.Skipf("%s is not set", growthVariable)
	}
	d := newDisaster(t)
	d.CreateBox(framework.NewBox("moving-1"))
	d.CreateReadyBox(framework.NewBox("moving-2"))
	// This box has no record in the cluster.
	unrecorded := d.ControlPlane.NewNamespace(t)
	unrecorded.CreateBox(framework.NewBox("paused", framework.Pause))
	unrecorded.AwaitPaused("paused")
	paused := unrecorded.GetBox("paused")
	updates := d.watchVersions()

	embedded := filepath.Join(t.TempDir(), "embedded.db")
	before := d.state()
	pid := d.stopServer()
	d.snapshot("save", embedded)
	members := framework.NewEtcdCluster(t, d.ControlPlane)
	for _, member := range members {
		member.Program = framework.Binary("etcd") // an etcd that is older than the embedded etcd refuses its snapshots
		d.restoreMember(member, framework.InitialCluster(members), embedded)
	}
	framework.StartEtcdMembers(t, members)
	d.setFlags("--data-dir=", "--etcd-servers="+framework.ClientURLs(members))
	d.startServer(pid)
	d.expectRecovered(before, "Behind")
	expectSame(t, paused, unrecorded.GetBox("paused"))

	d.expectOldStoreRefused()

	d.changeAll([]string{"moving-1"})
	outside := filepath.Join(t.TempDir(), "outside.db")
	before = d.state()
	pid = d.stopServer()
	runCommand(t, "modelbox-apiserver", "snapshot", "save", outside, "--etcd-servers="+members[0].ClientURL)
	d.setDataDirAside(".moved")
	d.snapshot("restore", outside)
	d.setFlags()
	d.startServer(pid)
	d.expectRecovered(before, "Behind")
	expectSame(t, paused, unrecorded.GetBox("paused"))
	if updates.Load() == 0 {
		t.Error("the informer received no update")
	}
}

// watchVersions checks that resource versions of boxes never decrease in a watch, and counts the updates.
func (d *disaster) watchVersions() *atomic.Int64 {
	d.T.Helper()
	var updates atomic.Int64
	factory := externalversions.NewSharedInformerFactory(d.ControlPlane.ModelClient, 0)
	if _, err := factory.Model().V1().ModelBoxes().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		UpdateFunc: func(oldObj, obj any) {
			old, box := oldObj.(*modelv1.ModelBox), obj.(*modelv1.ModelBox)
			updates.Add(1)
			if order, err := resourceversion.CompareResourceVersion(box.ResourceVersion, old.ResourceVersion); err != nil || order < 0 {
				d.T.Errorf("box %s has version %s after %s (%v)", box.Name, box.ResourceVersion, old.ResourceVersion, err)
			}
		},
	}); err != nil {
		d.T.Fatal(err)
	}
	factory.Start(d.T.Context().Done())
	d.T.Cleanup(factory.Shutdown)
	return &updates
}

// stopServer stops the server gracefully until startServer is called. It returns the ID of its process.
func (d *disaster) stopServer() int {
	d.T.Helper()
	if err := os.WriteFile(d.flagsFile+heldSuffix, nil, 0o644); err != nil {
		d.T.Fatal(err)
	}
	pid := d.ControlPlane.ServerPID(d.T)
	d.ControlPlane.SignalServer(d.T, syscall.SIGTERM)
	return pid
}

// startServer starts the stopped server, restarts the garbage collector, and waits until the server serves boxes.
func (d *disaster) startServer(former int) {
	d.T.Helper()
	d.ControlPlane.SignalProcess(d.T, framework.ControllerManagerProcess, syscall.SIGKILL)
	if err := os.Remove(d.flagsFile + heldSuffix); err != nil {
		d.T.Fatal(err)
	}
	d.AwaitServerRestart(former)
}

// restoreMember restores the data directory of a member from a snapshot.
func (d *disaster) restoreMember(member *framework.EtcdMember, cluster, file string) {
	d.T.Helper()
	runCommand(d.T, "etcdutl", "snapshot", "restore", file, "--data-dir="+member.Dir,
		"--name="+member.Name, "--initial-advertise-peer-urls="+member.PeerURL, "--initial-cluster="+cluster,
		"--bump-revision=1000000000", "--mark-compacted")
}

func runCommand(t *testing.T, name string, arguments ...string) {
	t.Helper()
	if output, err := exec.Command(framework.Binary(name), arguments...).CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v: %s", name, strings.Join(arguments, " "), err, output)
	}
}

// expectOldStoreRefused starts a server with the old data directory while the server with the external etcd runs.
func (d *disaster) expectOldStoreRefused() {
	d.T.Helper()
	before := d.state()
	port := framework.FreePort(d.T)
	flags := []string{fmt.Sprintf("--secure-port=%d", port), "--data-dir=" + d.dataDir(), "--etcd-servers=", "--audit-log-path=-"}
	arguments := d.ControlPlane.ServerCommand(d.T, flags...)
	command := exec.Command(arguments[0], arguments[1:]...)
	command.Dir, command.Env = filepath.Join(d.ControlPlane.Dir, "modelbox"), append(os.Environ(), "POD_NAMESPACE="+framework.ServerNamespace)
	ended, err := framework.StartLoggedProcess(command, filepath.Join(d.ControlPlane.Dir, "logs", "old-store.log"), syscall.SIGKILL)
	if err != nil {
		d.T.Fatal(err)
	}
	server := d.ControlPlane.DirectClientAt(d.T, port)
	d.Eventually("the server on the old store says what it has found", func() error {
		answer, err := server.Get().AbsPath("/readyz/store-recovery").DoRaw(d.Ctx)
		if err == nil || !strings.Contains(string(answer), "the store is Behind") || !strings.Contains(string(answer), before.store) {
			return fmt.Errorf("%w: %s", err, answer)
		}
		return nil
	})
	boxes := server.Get().AbsPath("/apis/model.github.com/v1/modelboxes").Do(d.Ctx)
	var status int
	if boxes.StatusCode(&status); status != 503 {
		d.T.Errorf("the server with the old store responded with %d: %v", status, boxes.Error())
	}
	if err := command.Process.Signal(syscall.SIGTERM); err != nil {
		d.T.Fatal(err)
	}
	if err := <-ended; err != nil {
		d.T.Errorf("the server with the old store ended with: %v", err)
	}
	after := d.state()
	if diff := cmp.Diff(before.Children, after.Children); diff != "" || before.writes != after.writes || before.store != after.store {
		d.T.Errorf("the server with the old store made changes: %d writes, store %s and before %s, -before +after:\n%s",
			after.writes-before.writes, after.store, before.store, diff)
	}
}

// expectSame checks that a box and its resource version have not changed.
func expectSame(t *testing.T, before, after *modelv1.ModelBox) {
	t.Helper()
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
}
