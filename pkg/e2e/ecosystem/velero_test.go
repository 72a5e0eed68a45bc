// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// samples are the samples that are backed up.
var samples = []string{
	"autoscaling", "configs", "containers", "ingress", "isolation", "modelstack", "networkpolicy", "networks", "probes", "references",
	"resize", "resources", "rolling-update", "rollouts", "services", "storage", "workloads",
}

// claims are the claims of the samples.
var claims = []string{"storage-cache-data", "data-storage-database-0", "data-storage-database-1"}

// jobBox is the sample whose workload is a Job.
const jobBox = "workload-job"

// TestVelero backs up a namespace with boxes and stacks, deletes it, and restores it.
func TestVelero(t *testing.T) {
	n := framework.NewControlPlane(t).NewNamespace(t)
	v := startVelero(n)
	createSamples(n)
	pods := podsOfBoxes(n)
	v.expectCompleted("backup", "samples", "--include-namespaces="+n.Name, "--snapshot-volumes=false")
	awaitAge(n)
	administrate(n, "", "delete", "namespace", n.Name)
	releaseVolumes(n)
	const kinds = "resources=modelboxes.model.github.com,modelstacks.model.github.com"
	v.expectCompleted("restore", "children", "--from-backup=samples", "--exclude-"+kinds)
	v.expectCompleted("restore", "boxes", "--from-backup=samples", "--include-"+kinds, "--resource-modifier-configmap=pause-jobs")
	giveAddress(n)

	t.Run("a box with a Job is paused and does not run it again", func(t *testing.T) {
		n := n.In(t)
		n.AwaitPaused(jobBox)
		jobs, err := n.ControlPlane.KubeClient.BatchV1().Jobs(n.Name).List(n.Ctx, metav1.ListOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, job := range jobs.Items {
			t.Errorf("Job %s runs", job.Name)
		}
		n.UpdateBox(jobBox, framework.Unpause)
	})
	t.Run("all boxes and stacks become ready", func(t *testing.T) {
		n.In(t).Eventually("all are ready", func() error { return checkReady(n) })
	})
	t.Run("no pod is replaced", func(t *testing.T) {
		if diff := cmp.Diff(pods, podsOfBoxes(n.In(t))); diff != "" {
			t.Errorf("pods before and after, -want +got:\n%s", diff)
		}
	})
	for _, kind := range []string{
		"deployments", "statefulsets", "daemonsets", "cronjobs", "services", "configmaps", "ingresses", "networkpolicies",
		"horizontalpodautoscalers", "poddisruptionbudgets",
	} {
		t.Run("boxes adopt their "+kind, func(t *testing.T) { expectOwned(n.In(t), kind) })
	}
}

// expectOwned checks that each child of the kind has an owner.
func expectOwned(n *framework.Namespace, kind string) {
	n.T.Helper()
	children := n.Kubectl.Run("get", kind, "--selector=app.kubernetes.io/managed-by=modelbox-apiserver",
		"--output=custom-columns=:metadata.name,:metadata.ownerReferences[0].kind", "--no-headers")
	if children == "" {
		n.T.Errorf("there are no %s", kind)
	}
	for child := range strings.Lines(children) {
		if columns := strings.Fields(child); columns[1] == "<none>" {
			n.T.Errorf("%s has no owner", columns[0])
		}
	}
}

// createSamples creates the samples, and waits until they are ready.
func createSamples(n *framework.Namespace) {
	n.T.Helper()
	for _, claim := range claims {
		n.CreateVolumeFor(claim)
	}
	for _, sample := range samples {
		n.Kubectl.Run("apply", "--filename="+framework.Sample(sample+".yaml"))
	}
	giveAddress(n)
	n.Eventually("all boxes and stacks are ready", func() error { return checkReady(n) })
}

// giveAddress gives the Service of the sample of a load balancer an address.
func giveAddress(n *framework.Namespace) {
	n.T.Helper()
	const sample = "reach-loadbalancer"
	n.AwaitService(sample, "exists", func(*corev1.Service) error { return nil })
	n.Kubectl.Run("patch", "service", sample, "--subresource=status", `--patch={"status":{"loadBalancer":{"ingress":[{"ip":"192.0.2.1"}]}}}`)
}

// podsOfBoxes returns the names of the pods of boxes, except for the pods of Jobs: a backup does not have these.
func podsOfBoxes(n *framework.Namespace) []string {
	n.T.Helper()
	pods := n.Kubectl.Run("get", "pods", "--selector="+modelv1.SelectorLabel+",!"+batchv1.JobNameLabel, "--output=name")
	return strings.Fields(pods)
}

// releaseVolumes lets new claims of the same names have the volumes.
func releaseVolumes(n *framework.Namespace) {
	n.T.Helper()
	for _, claim := range claims {
		administrate(n, "", "patch", "persistentvolume", n.Name+"-"+claim, "--type=merge", `--patch={"spec":{"claimRef":{"uid":null,"resourceVersion":null}}}`)
	}
}

// checkReady returns nil if all boxes and stacks in the namespace are ready.
func checkReady(n *framework.Namespace) error {
	list := framework.RunKubectl(n.Kubectl.Command("get", "mb,mst", "--output=json"), "")
	if list.Err != nil {
		return fmt.Errorf("%w: %s", list.Err, list.Stderr)
	}
	var objects struct {
		Items []struct {
			Kind     string
			Metadata metav1.ObjectMeta
			Status   struct {
				ObservedGeneration int64
				Conditions         []metav1.Condition
			}
		}
	}
	if err := json.Unmarshal([]byte(list.Stdout), &objects); err != nil {
		return err
	}
	var missing []string
	for _, object := range objects.Items {
		ready := meta.FindStatusCondition(object.Status.Conditions, "Ready")
		if ready == nil || ready.Status != metav1.ConditionTrue || ready.ObservedGeneration != object.Metadata.Generation {
			missing = append(missing, fmt.Sprintf("%s %s: %v", object.Kind, object.Metadata.Name, ready))
		}
	}
	if len(missing) > 0 || len(objects.Items) == 0 {
		return fmt.Errorf("of %d objects are not ready:\n%s", len(objects.Items), strings.Join(missing, "\n"))
	}
	return nil
}

// awaitAge waits until the server takes restored children for copies: until their managed fields are older than a minute.
func awaitAge(n *framework.Namespace) {
	n.T.Helper()
	ready := time.Now()
	framework.Eventually(n.T, 2*time.Minute, "the backup is older than a minute", func() error {
		if age := time.Since(ready); age < 65*time.Second {
			return fmt.Errorf("it is %s old", age)
		}
		return nil
	})
}

// velero runs Velero, with backups in a directory.
type velero struct{ n *framework.Namespace }

// startVelero installs Velero in the control plane of the namespace, and starts its server beside it. It is stopped at the end of the test.
// The pods of its Deployment are simulated and do nothing.
func startVelero(n *framework.Namespace) velero {
	n.T.Helper()
	v := velero{n}
	v.run("install", "--no-default-backup-location", "--use-volume-snapshots=false", "--no-secret")
	administrate(n, "", "apply", "--filename="+framework.InRepository("artifacts", "examples", "velero.yaml"))
	administrate(n, fmt.Sprintf(`
apiVersion: velero.io/v1
kind: BackupStorageLocation
metadata: {name: default, namespace: velero}
spec: {provider: modelbox.test/directory, default: true, objectStorage: {bucket: backups}, config: {path: %s}}
`, n.T.TempDir()), "create", "--filename=-")
	startProgram(n.T, n.ControlPlane.ProgramCommand(n.T.Context(), "velero", "server",
		"--plugin-dir="+framework.Binary("velero-plugins"), "--metrics-address="+freeAddress(n.T), "--profiler-address="+freeAddress(n.T)))
	n.Eventually("Velero can use its directory", func() error {
		location := framework.RunKubectl(n.ControlPlane.KubectlCommand(n.Ctx, "--namespace=velero", "get", "backupstoragelocation", "default", "--output=jsonpath={.status.phase} {.status.message}"), "")
		if strings.TrimSpace(location.Stdout) != "Available" {
			return fmt.Errorf("it is %q: %v", location.Stdout, location.Err)
		}
		return nil
	})
	return v
}

func freeAddress(t *testing.T) string { return fmt.Sprintf("127.0.0.1:%d", framework.FreePort(t)) }

// run runs a command of Velero, and returns its output.
func (v velero) run(arguments ...string) string {
	v.n.T.Helper()
	output, err := v.n.ControlPlane.ProgramCommand(v.n.Ctx, "velero", arguments...).CombinedOutput()
	if err != nil {
		v.n.T.Fatalf("velero %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// expectCompleted creates a backup or a restore with the name, and waits until it is complete.
func (v velero) expectCompleted(kind, name string, arguments ...string) {
	v.n.T.Helper()
	output := v.run(append([]string{kind, "create", name, "--wait"}, arguments...)...)
	if !strings.Contains(output, "completed with status: Completed.") {
		v.n.T.Fatalf("%s %s is not complete:\n%s", kind, name, output)
	}
}
