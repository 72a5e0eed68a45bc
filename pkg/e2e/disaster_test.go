// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

const (
	// disasterBoxesVariable is how many boxes live through a disaster.
	disasterBoxesVariable = "MODELBOX_E2E_DISASTER_BOXES"
	fewBoxes              = 12
)

// TestDisasters loses the store, or puts another one in its place, and restarts the cluster's garbage collector then,
// which deletes whatever belongs to a box that it is told does not exist. It is not parallel: it starts servers.
func TestDisasters(t *testing.T) {
	d := newDisaster(t)
	for _, disaster := range []struct {
		name   string
		strike func(*disaster)
	}{
		{"the store is empty", (*disaster).emptyStore},
		{"the store is that of earlier", (*disaster).earlierStore},
		{"the volume is rolled back", (*disaster).rolledBackVolume},
		{"the store is another one", (*disaster).foreignStore},
		{"the store moves to an outside etcd and back", (*disaster).outsideAndBack},
		{"a saved snapshot is restored", (*disaster).restoredSnapshot},
		{"the store is empty and was used for years", (*disaster).oldStore},
		{"the administrator is to decide", (*disaster).refuse},
		{"nothing is done about it", (*disaster).ignore},
	} {
		if !t.Run(disaster.name, func(t *testing.T) { disaster.strike(d.in(t)) }) {
			return
		}
	}
}

// disaster is a control plane whose server can be given another store.
type disaster struct {
	*namespace
	flagsFile string
	boxes     int
	// told is an informer that lives through all disasters.
	told *replica
}

func newDisaster(t *testing.T) *disaster {
	t.Helper()
	boxes := fewBoxes
	if text := os.Getenv(disasterBoxesVariable); text != "" {
		var err error
		if boxes, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", disasterBoxesVariable, err)
		}
	}
	dir := t.TempDir()
	script, flagsFile := filepath.Join(dir, "server"), filepath.Join(dir, "flags")
	content := fmt.Sprintf("#!/bin/sh\nexec %q \"$@\" $(cat %q)\n", binary("modelbox-apiserver"), flagsFile)
	for file, content := range map[string]string{script: content, flagsFile: ""} {
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	p := newControlPlane(t, append(serverFlags("--leader-elect-lease-duration=4s", "--leader-elect-renew-deadline=3s", "--leader-elect-retry-period=500ms"), "--server="+script)...)
	d := &disaster{namespace: p.newNamespace(t), flagsFile: flagsFile, boxes: boxes, told: &replica{t: t, boxes: map[string]string{}}}
	factory := externalversions.NewSharedInformerFactoryWithOptions(p.boxes, 0, externalversions.WithNamespace(d.name))
	if _, err := factory.Model().V1().ModelBoxes().Informer().AddEventHandler(d.told); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	for number := range boxes {
		d.create(d.box(number))
	}
	for number := range boxes {
		d.awaitReady(d.box(number).Name)
	}
	return d
}

func (d *disaster) in(t *testing.T) *disaster {
	copied := *d
	copied.namespace = d.namespace.in(t)
	return &copied
}

// box is labelled as GitOps tools do it.
func (d *disaster) box(number int) *modelv1.ModelBox {
	box := newBox(fmt.Sprintf("box-%d", number))
	box.Labels = map[string]string{"example.com/applied-by": "gitops"}
	return box
}

func (d *disaster) dataDir() string { return filepath.Join(d.plane.dir, "modelbox", "data") }

// emptyStore loses the data directory.
func (d *disaster) emptyStore() {
	before := d.state()
	d.replaceStore(func() { d.rename(d.dataDir(), d.dataDir()+".lost") })
	d.expectRecovered(before, "Empty")
}

// oldStore loses a data directory that has seen very many writes.
func (d *disaster) oldStore() {
	before := d.state()
	d.replaceStore(func() {
		d.rename(d.dataDir(), d.dataDir()+".old")
		patch := `{"metadata":{"labels":{"model.github.com/store-revision":"5000000000"}}}`
		if _, err := d.plane.kube.CoordinationV1().Leases(serverNamespace).
			Patch(d.ctx, "modelbox-controller", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			d.t.Fatal(err)
		}
	})
	d.expectRecovered(before, "Empty")
}

// earlierStore restores a copy of the data directory after boxes were created, changed, deleted and replaced.
func (d *disaster) earlierStore() {
	doomed := []string{"doomed-1", "doomed-2"}
	for _, name := range append(doomed, "renewed") {
		d.createReady(newBox(name))
	}
	snapshot := d.dataDir() + ".snapshot"
	d.copyFrozen(snapshot)
	d.changeAll(doomed)
	before := d.state()
	d.replaceStore(func() {
		d.rename(d.dataDir(), d.dataDir()+".late")
		d.rename(snapshot, d.dataDir())
	})
	d.expectRecovered(before, "Behind")
}

// restoredSnapshot does as the documentation of backups says, after boxes were created, changed, deleted and replaced.
func (d *disaster) restoredSnapshot() {
	doomed := []string{"doomed-3", "doomed-4"}
	for _, name := range doomed {
		d.createReady(newBox(name))
	}
	file := d.dataDir() + ".db"
	d.snapshot("save", file)
	d.changeAll(doomed)
	d.change("box-1", withImage(newImage))
	d.awaitReady("box-1")
	before := d.state()
	d.replaceStore(func() {
		d.rename(d.dataDir(), d.dataDir()+".broken")
		d.snapshot("restore", file)
	})
	d.expectRecovered(before, "Behind")
}

func (d *disaster) snapshot(command, file string) {
	d.t.Helper()
	output, err := exec.Command(binary("modelbox-apiserver"), "snapshot", command, file, "--data-dir="+d.dataDir()).CombinedOutput()
	if err != nil {
		d.t.Fatalf("snapshot %s: %v: %s", command, err, output)
	}
}

// rolledBackVolume kills the server and starts it on what the data directory was a few writes ago.
func (d *disaster) rolledBackVolume() {
	snapshot := d.dataDir() + ".volume"
	d.copyFrozen(snapshot)
	d.createReady(newBox("latest"))
	before := d.state()
	d.replaceStore(func() {
		d.rename(d.dataDir(), d.dataDir()+".latest")
		d.rename(snapshot, d.dataDir())
	})
	d.expectRecovered(before, "Behind")
}

// foreignStore takes the data directory of another cluster's server.
func (d *disaster) foreignStore() {
	other := newControlPlane(d.t)
	stranger := other.newNamespace(d.t)
	stranger.createReady(newBox("stranger"))
	// One has a name that is taken here.
	if _, err := other.kube.CoreV1().Namespaces().Create(d.ctx, namespaceNamed(d.name), metav1.CreateOptions{}); err != nil {
		d.t.Fatal(err)
	}
	if _, err := other.boxes.ModelV1().ModelBoxes(d.name).Create(d.ctx, newBox("box-1"), metav1.CreateOptions{}); err != nil {
		d.t.Fatal(err)
	}
	foreign := d.dataDir() + ".foreign"
	theirs := &disaster{namespace: stranger}
	theirs.copyFrozen(foreign)

	before := d.state()
	d.replaceStore(func() {
		d.rename(d.dataDir(), d.dataDir()+".own")
		d.rename(foreign, d.dataDir())
	})
	d.expectRecovered(before, "Foreign")
	if _, err := d.plane.boxes.ModelV1().ModelBoxes(stranger.name).Get(d.ctx, "stranger", metav1.GetOptions{}); err != nil {
		d.t.Errorf("the boxes of the foreign store are gone: %v", err)
	}
}

// outsideAndBack starts the server on an empty outside etcd, and later on its old data directory again.
func (d *disaster) outsideAndBack() {
	d.create(newBox("moving-1"))
	d.createReady(newBox("moving-2"))
	before := d.state()
	d.replaceStore(func() { d.setFlags(outsideEtcd...) })
	d.expectRecovered(before, "Empty")

	d.changeAll([]string{"moving-1"})
	before = d.state()
	d.replaceStore(func() { d.setFlags() })
	d.expectRecovered(before, "Behind")
	d.delete("moving-2")
}

// refuse keeps the server from becoming ready until it is told what to do.
func (d *disaster) refuse() {
	before := d.state()
	d.setFlags("--store-recovery=refuse")
	killed := d.strike(func() { d.rename(d.dataDir(), d.dataDir()+".refused") })
	server := d.plane.directClient(d.t)
	d.eventually("the server says what it has found", func() error {
		answer, err := server.Get().AbsPath("/readyz/store-recovery").DoRaw(d.ctx)
		if err == nil || !strings.Contains(string(answer), "the store is Empty") || !strings.Contains(string(answer), before.store) {
			return fmt.Errorf("%w: %s", err, answer)
		}
		return nil
	})
	if _, err := d.namespace.boxes.Get(d.ctx, "box-0", metav1.GetOptions{}); !apierrors.IsServiceUnavailable(err) {
		d.t.Errorf("a box is answered with %v", err)
	}
	d.setFlags()
	d.plane.signalServer(d.t, syscall.SIGKILL)
	d.awaitServed(killed)
	d.expectRecovered(before, "Empty")
}

// ignore serves from an empty store, which is what every disaster would come to without recovery: the cluster deletes
// everything.
func (d *disaster) ignore() {
	d.setFlags("--store-recovery=ignore")
	d.replaceStore(func() { d.rename(d.dataDir(), d.dataDir()+".ignored") })
	d.eventually("everything is deleted", func() error {
		deployments, err := d.deployments.List(d.ctx, metav1.ListOptions{})
		if err != nil || len(deployments.Items) > 0 {
			return fmt.Errorf("there are %d Deployments (%w)", len(deployments.Items), err)
		}
		return nil
	})
}

// changeAll deletes boxes, changes some, and creates one.
func (d *disaster) changeAll(doomed []string) {
	d.t.Helper()
	for _, name := range doomed {
		d.delete(name)
	}
	d.change("box-0", withImage(newImage))
	d.createReady(newBox(fmt.Sprintf("new-%d", d.plane.serverPID(d.t))))
	if _, err := d.namespace.boxes.Get(d.ctx, "renewed", metav1.GetOptions{}); err == nil {
		d.delete("renewed")
		d.createReady(newBox("renewed", withImage(newImage)))
	}
	d.awaitReady("box-0")
}

// collectorPatience is how long the garbage collector may take. One that was started while the server was away knows of
// no boxes until it looks for new kinds, and asks for owners that it does not know less and less often.
const collectorPatience = 5 * time.Minute

// delete deletes a box and waits until its children are gone.
func (d *disaster) delete(name string) {
	d.t.Helper()
	if err := d.namespace.boxes.Delete(d.ctx, name, metav1.DeleteOptions{}); err != nil {
		d.t.Fatal(err)
	}
	eventually(d.t, collectorPatience, "the children of box "+name+" are gone", func() error {
		if _, err := d.deployments.Get(d.ctx, name, metav1.GetOptions{}); err == nil {
			return errors.New("there is a Deployment")
		}
		if _, err := d.services.Get(d.ctx, name, metav1.GetOptions{}); err == nil {
			return errors.New("there is a Service")
		}
		return nil
	})
}

func (d *disaster) setFlags(flags ...string) {
	d.t.Helper()
	if err := os.WriteFile(d.flagsFile, []byte(strings.Join(flags, " ")), 0o644); err != nil {
		d.t.Fatal(err)
	}
}

func (d *disaster) rename(from, to string) {
	d.t.Helper()
	// Those of earlier runs are in the way.
	if err := errors.Join(os.RemoveAll(to), os.Rename(from, to)); err != nil {
		d.t.Fatal(err)
	}
}

// copyFrozen copies the data directory while nothing is written to it.
func (d *disaster) copyFrozen(to string) {
	d.t.Helper()
	pid := d.plane.serverPID(d.t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		d.t.Fatal(err)
	}
	defer func() { _ = syscall.Kill(pid, syscall.SIGCONT) }()
	if output, err := exec.Command("cp", "-a", d.dataDir(), to).CombinedOutput(); err != nil {
		d.t.Fatalf("copying the data directory: %v: %s", err, output)
	}
}

// replaceStore lets a disaster strike, and waits until the server serves.
func (d *disaster) replaceStore(replace func()) {
	d.t.Helper()
	d.awaitServed(d.strike(replace))
}

// strike does something to the store of a server that does not notice, and kills the server and the garbage collector.
// What was written since the Lease was last renewed would be lost unnoticed.
func (d *disaster) strike(replace func()) (killed int) {
	d.t.Helper()
	// Its children are there, and seen to go: a deletion that nobody has carried out yet would be undone.
	latest := d.createReady(newBox("latest-write"))
	d.delete(latest.Name)
	d.eventually("the Lease knows of the last write", func() error {
		known := d.plane.awaitLeader(d.t, "").Labels["model.github.com/store-revision"]
		order, err := resourceversion.CompareResourceVersion(known, latest.ResourceVersion)
		if err != nil || order <= 0 {
			return fmt.Errorf("it knows of revision %s, and the box was created at %s (%v)", known, latest.ResourceVersion, err)
		}
		return nil
	})
	pid := d.plane.serverPID(d.t)
	if err := syscall.Kill(pid, syscall.SIGSTOP); err != nil {
		d.t.Fatal(err)
	}
	replace()
	d.plane.signalServer(d.t, syscall.SIGKILL)
	d.plane.signalProcess(d.t, controllerManagerProcess, syscall.SIGKILL)
	return pid
}
