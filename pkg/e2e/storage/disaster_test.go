// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package storage

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

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/resourceversion"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/informers/externalversions"
)

const (
	// disasterBoxesVariable is the environment variable with the number of boxes.
	disasterBoxesVariable = "MODELBOX_E2E_DISASTER_BOXES"
	fewBoxes              = 12

	// heldSuffix is appended to the name of the file with the flags of the server. A file of that name prevents the server from
	// starting.
	heldSuffix = ".held"
)

// TestLostStoreIsRecovered loses the store, or replaces it by another store. Then it restarts the garbage collector of the cluster,
// which deletes the children of a box if the server answers that the box does not exist. The test mostly waits. Therefore, two
// control planes each run half of the disasters in parallel.
func TestLostStoreIsRecovered(t *testing.T) {
	type disasters []struct {
		name   string
		strike func(*disaster)
	}
	for name, disasters := range map[string]disasters{
		"lost stores": {
			{"the store is empty", (*disaster).emptyStore},
			{"the store is empty during a rollout", (*disaster).emptyDuringRollout},
			{"the store is empty and a user has forged owners", (*disaster).forgedOwners},
			{"the store is empty and was used for years", (*disaster).oldStore},
			{"the administrator is to decide", (*disaster).refuse},
			{"nothing is done about it", (*disaster).ignore},
		},
		"other stores": {
			{"the store is rolled back", (*disaster).earlierStore},
			{"the volume is rolled back", (*disaster).rolledBackVolume},
			{"the store is foreign", (*disaster).foreignStore},
			{"the store moves to an external etcd and back", (*disaster).externalAndBack},
			{"a saved snapshot is restored", (*disaster).restoredSnapshot},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDisaster(t)
			for _, disaster := range disasters {
				if !t.Run(disaster.name, func(t *testing.T) { disaster.strike(d.in(t)) }) {
					return
				}
			}
		})
	}
}

// disaster is a control plane whose server can be given another store.
type disaster struct {
	*framework.Namespace
	flagsFile string
	boxes     int
	// told is an informer that runs during all disasters.
	told *replica
}

func newDisaster(t *testing.T) *disaster {
	t.Helper()
	boxes := framework.Setting(t, disasterBoxesVariable, fewBoxes, strconv.Atoi)
	script, flagsFile := newServerScript(t)
	p := framework.NewControlPlane(t, append(framework.ServerFlags(framework.QuickLease...), "--server="+script)...)
	d := &disaster{Namespace: p.NewNamespace(t), flagsFile: flagsFile, boxes: boxes, told: &replica{t: t, boxes: map[string]string{}}}
	factory := externalversions.NewSharedInformerFactoryWithOptions(p.ModelClient, 0, externalversions.WithNamespace(d.Name))
	if _, err := factory.Model().V1().ModelBoxes().Informer().AddEventHandler(d.told); err != nil {
		t.Fatal(err)
	}
	factory.Start(t.Context().Done())
	t.Cleanup(factory.Shutdown)
	d.ServeNetworkAttachments()
	d.createNetwork(networkName)
	for number := range boxes {
		d.CreateBox(d.box(number))
	}
	for _, box := range batchBoxes() {
		d.CreateReadyBox(box)
	}
	if _, err := d.stacks().Create(d.Ctx, newStack(), metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	for number := range boxes {
		d.AwaitReady(d.box(number).Name)
	}
	return d
}

// newServerScript returns a program that runs the server with additional flags from a file. The server does not start while a file
// with the same name and heldSuffix exists.
func newServerScript(t *testing.T) (script, flagsFile string) {
	t.Helper()
	dir := t.TempDir()
	script, flagsFile = filepath.Join(dir, "server"), filepath.Join(dir, "flags")
	content := fmt.Sprintf("#!/bin/sh\nwhile [ -e %q ]; do sleep 0.1; done\nexec %q \"$@\" $(cat %q)\n",
		flagsFile+heldSuffix, framework.Binary("modelbox-apiserver"), flagsFile)
	for file, content := range map[string]string{script: content, flagsFile: ""} {
		if err := os.WriteFile(file, []byte(content), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	return script, flagsFile
}

// stackName is the name of the stack that must survive a disaster.
const stackName = "shop"

// newStack returns a stack of two boxes and an external component.
func newStack() *modelv1.ModelStack {
	component := func(name string, dependsOn ...string) modelv1.ModelStackComponent {
		box := framework.NewBox(name).Spec
		return modelv1.ModelStackComponent{Name: name, DependsOn: dependsOn, Box: &box}
	}
	stack := &modelv1.ModelStack{ObjectMeta: metav1.ObjectMeta{Name: stackName, Labels: map[string]string{"example.com/applied-by": "gitops"}}}
	stack.Spec.Components = []modelv1.ModelStackComponent{
		component("db"),
		{Name: "mail", External: &modelv1.ModelStackExternal{Host: "192.0.2.1", Port: 25}},
		component("web", "db", "mail"),
	}
	return stack
}

// batchBoxes returns boxes whose pods run to completion. A disaster must not run them again.
func batchBoxes() []*modelv1.ModelBox {
	return []*modelv1.ModelBox{
		framework.NewBox("migrate", framework.WithWorkload(modelv1.WorkloadJob)),
		framework.NewBox("report", framework.WithWorkload(modelv1.WorkloadCronJob)),
	}
}

func (d *disaster) stacks() modelclient.ModelStackInterface {
	return d.ControlPlane.ModelClient.ModelV1().ModelStacks(d.Name)
}

func (d *disaster) in(t *testing.T) *disaster {
	copied := *d
	copied.Namespace = d.Namespace.In(t)
	return &copied
}

// box returns a box with the labels of a GitOps tool. The boxes use each kind of workload, with all other children that it can
// have.
func (d *disaster) box(number int) *modelv1.ModelBox {
	kind := framework.Workloads[number%len(framework.Workloads)]
	box := framework.NewBox(fmt.Sprintf("box-%d", number), framework.WithWorkload(kind), func(spec *modelv1.ModelBoxSpec) {
		spec.Networks = []string{networkName}
		spec.DisruptionBudget = &modelv1.ModelBoxDisruptionBudget{MinAvailable: ptr.To(intstr.FromInt32(1))}
		spec.NetworkPolicy = &modelv1.ModelBoxNetworkPolicy{}
		if kind != modelv1.WorkloadDaemonSet {
			spec.ResourceType = modelv1.ResourceTypeSmall
			spec.Autoscaling = &modelv1.ModelBoxAutoscaling{MaxReplicas: 3, CPU: ptr.To[int32](80)}
		}
	})
	box.Labels = map[string]string{"example.com/applied-by": "gitops"}
	return box
}

func (d *disaster) dataDir() string { return d.ControlPlane.ServerDataDir() }

// emptyStore loses the data directory.
func (d *disaster) emptyStore() {
	before := d.state()
	d.replaceStore(func() { d.setDataDirAside(".lost") })
	d.expectRecovered(before, "Empty")
}

// oldStore loses a data directory with a very high revision.
func (d *disaster) oldStore() {
	before := d.state()
	d.replaceStore(func() {
		d.setDataDirAside(".old")
		patch := `{"metadata":{"labels":{"model.github.com/store-revision":"5000000000"}}}`
		if _, err := d.ControlPlane.KubeClient.CoordinationV1().Leases(framework.ServerNamespace).
			Patch(d.Ctx, "modelbox-controller", types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
			d.T.Fatal(err)
		}
	})
	d.expectRecovered(before, "Empty")
}

// earlierStore restores a copy of the data directory after boxes were created, changed, deleted and replaced.
func (d *disaster) earlierStore() {
	doomed := []string{"doomed-1", "doomed-2"}
	for _, name := range append(doomed, "renewed") {
		d.CreateReadyBox(framework.NewBox(name))
	}
	d.createNetwork("doomed")
	snapshot := d.dataDir() + ".snapshot"
	d.copyFrozen(snapshot)
	d.changeAll(doomed)
	d.deleteNetwork("doomed")
	before := d.state()
	d.replaceStore(func() { d.swapDataDir(snapshot, ".late") })
	d.expectRecovered(before, "Behind")
}

// restoredSnapshot restores a snapshot with the commands of docs/backup.md, after boxes were created, changed, deleted and
// replaced.
func (d *disaster) restoredSnapshot() {
	doomed := []string{"doomed-3", "doomed-4"}
	for _, name := range doomed {
		d.CreateReadyBox(framework.NewBox(name))
	}
	file := d.dataDir() + ".db"
	d.snapshot("save", file)
	d.changeAll(doomed)
	d.UpdateBox("box-1", framework.WithImage(framework.NewImage))
	d.AwaitReady("box-1")
	before := d.state()
	d.replaceStore(func() {
		d.setDataDirAside(".broken")
		d.snapshot("restore", file)
	})
	d.expectRecovered(before, "Behind")
}

func (d *disaster) snapshot(command, file string) {
	d.T.Helper()
	output, err := exec.Command(framework.Binary("modelbox-apiserver"), "snapshot", command, file, "--data-dir="+d.dataDir()).CombinedOutput()
	if err != nil {
		d.T.Fatalf("snapshot %s: %v: %s", command, err, output)
	}
}

// rolledBackVolume kills the server and restores its data directory from a few writes before.
func (d *disaster) rolledBackVolume() {
	snapshot := d.dataDir() + ".volume"
	d.copyFrozen(snapshot)
	d.CreateReadyBox(framework.NewBox("latest"))
	before := d.state()
	d.replaceStore(func() { d.swapDataDir(snapshot, ".latest") })
	d.expectRecovered(before, "Behind")
}

// foreignStore uses the data directory of the server of another cluster.
func (d *disaster) foreignStore() {
	other := framework.NewControlPlane(d.T)
	stranger := other.NewNamespace(d.T)
	stranger.CreateReadyBox(framework.NewBox("stranger"))
	// One of its boxes has the name of a box in this cluster.
	if _, err := other.KubeClient.CoreV1().Namespaces().Create(d.Ctx, namespaceNamed(d.Name), metav1.CreateOptions{}); err != nil {
		d.T.Fatal(err)
	}
	if _, err := other.ModelClient.ModelV1().ModelBoxes(d.Name).Create(d.Ctx, framework.NewBox("box-1"), metav1.CreateOptions{}); err != nil {
		d.T.Fatal(err)
	}
	foreign := d.dataDir() + ".foreign"
	theirs := &disaster{Namespace: stranger}
	theirs.copyFrozen(foreign)

	before := d.state()
	d.replaceStore(func() { d.swapDataDir(foreign, ".own") })
	d.expectRecovered(before, "Foreign")
	if _, err := d.ControlPlane.ModelClient.ModelV1().ModelBoxes(stranger.Name).Get(d.Ctx, "stranger", metav1.GetOptions{}); err != nil {
		d.T.Errorf("the boxes of the foreign store were deleted: %v", err)
	}
}

// externalAndBack starts the server with an empty external etcd, and later with its old data directory again.
func (d *disaster) externalAndBack() {
	d.CreateBox(framework.NewBox("moving-1"))
	d.CreateReadyBox(framework.NewBox("moving-2"))
	before := d.state()
	d.replaceStore(func() { d.setFlags(framework.ExternalEtcd...) })
	d.expectRecovered(before, "Empty")

	d.changeAll([]string{"moving-1"})
	before = d.state()
	d.replaceStore(func() { d.setFlags() })
	d.expectRecovered(before, "Behind")
	d.delete("moving-2")
}

// refuse checks that the server with --store-recovery=refuse does not become ready.
func (d *disaster) refuse() {
	before := d.state()
	d.setFlags("--store-recovery=refuse")
	killed := d.strike(func() { d.setDataDirAside(".refused") })
	server := d.ControlPlane.DirectClient(d.T)
	d.Eventually("the server says what it has found", func() error {
		answer, err := server.Get().AbsPath("/readyz/store-recovery").DoRaw(d.Ctx)
		if err == nil || !strings.Contains(string(answer), "the store is Empty") || !strings.Contains(string(answer), before.store) {
			return fmt.Errorf("%w: %s", err, answer)
		}
		return nil
	})
	if _, err := d.Namespace.Boxes.Get(d.Ctx, "box-0", metav1.GetOptions{}); !apierrors.IsServiceUnavailable(err) {
		d.T.Errorf("reading a box: %v", err)
	}
	d.setFlags()
	d.ControlPlane.SignalServer(d.T, syscall.SIGKILL)
	d.AwaitServerRestart(killed)
	d.expectRecovered(before, "Empty")
}

// ignore serves from an empty store without a recovery: the cluster deletes everything. This shows the effect of every disaster
// without a recovery.
func (d *disaster) ignore() {
	d.setFlags("--store-recovery=ignore")
	d.replaceStore(func() { d.setDataDirAside(".ignored") })
	d.Eventually("everything is deleted", func() error {
		if left := strings.TrimSpace(d.Kubectl.Run("get", "deployments,statefulsets,daemonsets,network-attachment-definitions", "--output=name")); left != "" {
			return fmt.Errorf("there are %s", left)
		}
		return nil
	})
}

// changeAll deletes boxes, changes some, and creates one.
func (d *disaster) changeAll(doomed []string) {
	d.T.Helper()
	for _, name := range doomed {
		d.delete(name)
	}
	d.UpdateBox("box-0", framework.WithImage(framework.NewImage))
	d.changeStack()
	d.changeNetwork()
	d.CreateReadyBox(framework.NewBox(fmt.Sprintf("new-%d", d.ControlPlane.ServerPID(d.T))))
	if _, err := d.Namespace.Boxes.Get(d.Ctx, "renewed", metav1.GetOptions{}); err == nil {
		d.delete("renewed")
		d.CreateReadyBox(framework.NewBox("renewed", framework.WithImage(framework.NewImage)))
	}
	d.AwaitReady("box-0")
}

// changeStack changes the spec and the labels of the stack.
func (d *disaster) changeStack() {
	d.T.Helper()
	patch := fmt.Sprintf(`[{"op": "add", "path": "/metadata/labels/example.com~1change", "value": "%d"},
		{"op": "replace", "path": "/spec/components/2/box/image", "value": %q}]`, d.ControlPlane.ServerPID(d.T), framework.NewImage)
	if _, err := d.stacks().Patch(d.Ctx, stackName, types.JSONPatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
		d.T.Fatal(err)
	}
}

// delete deletes a box and waits until its children are deleted.
func (d *disaster) delete(name string) {
	d.T.Helper()
	if err := d.Namespace.Boxes.Delete(d.Ctx, name, metav1.DeleteOptions{}); err != nil {
		d.T.Fatal(err)
	}
	framework.Eventually(d.T, framework.CollectorPatience, "the children of box "+name+" are gone", func() error {
		for _, kind := range framework.Workloads {
			if _, err := d.FindWorkload(kind, name); err == nil {
				return fmt.Errorf("there is a %s", kind)
			}
		}
		if _, err := d.Services.Get(d.Ctx, name, metav1.GetOptions{}); err == nil {
			return errors.New("there is a Service")
		}
		return nil
	})
}

func (d *disaster) setFlags(flags ...string) {
	d.T.Helper()
	if err := os.WriteFile(d.flagsFile, []byte(strings.Join(flags, " ")), 0o644); err != nil {
		d.T.Fatal(err)
	}
}

// swapDataDir moves the data directory away and replaces it by another directory.
func (d *disaster) swapDataDir(other, suffix string) {
	d.T.Helper()
	d.setDataDirAside(suffix)
	if err := os.Rename(other, d.dataDir()); err != nil {
		d.T.Fatal(err)
	}
}

// setDataDirAside renames the data directory: it appends the suffix to its name.
func (d *disaster) setDataDirAside(suffix string) {
	d.T.Helper()
	if err := os.Rename(d.dataDir(), d.dataDir()+suffix); err != nil {
		d.T.Fatal(err)
	}
}

// copyFrozen copies the data directory while the server is frozen.
func (d *disaster) copyFrozen(to string) {
	d.T.Helper()
	d.ControlPlane.WhileFrozen(d.T, framework.ServerProcess, func() {
		if output, err := exec.Command("cp", "-a", d.dataDir(), to).CombinedOutput(); err != nil {
			d.T.Fatalf("copying the data directory: %v: %s", err, output)
		}
	})
}

// replaceStore replaces the store, and waits until the server serves.
func (d *disaster) replaceStore(replace func()) {
	d.T.Helper()
	d.AwaitServerRestart(d.strike(replace))
}

// strike replaces the store of a frozen server, and kills the server and the garbage collector. It first waits for a renewal of the
// Lease, because the loss of later writes would not be detected.
func (d *disaster) strike(replace func()) (killed int) {
	d.T.Helper()
	// The children of the last box exist, and the test waits for their deletion: the recovery restores a deleted box whose children
	// exist.
	latest := d.CreateReadyBox(framework.NewBox("latest-write"))
	d.delete(latest.Name)
	d.Eventually("the Lease knows of the last write", func() error {
		known := d.ControlPlane.AwaitLeader(d.T, "").Labels["model.github.com/store-revision"]
		order, err := resourceversion.CompareResourceVersion(known, latest.ResourceVersion)
		if err != nil || order <= 0 {
			return fmt.Errorf("the Lease has revision %s, and the box was created at %s (%v)", known, latest.ResourceVersion, err)
		}
		return nil
	})
	return d.ControlPlane.KillFrozenServer(d.T, replace)
}
