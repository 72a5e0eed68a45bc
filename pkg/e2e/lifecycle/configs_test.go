// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"bytes"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/helper"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

var (
	restarting = func(content string) func(*modelv1.ModelBoxSpec) {
		return framework.WithConfig("", modelv1.ConfigRolloutRestart, content)
	}
	live = func(content string) func(*modelv1.ModelBoxSpec) {
		return framework.WithConfig("live", modelv1.ConfigRolloutLive, content)
	}
	versioned = func(content string) func(*modelv1.ModelBoxSpec) {
		return framework.WithConfig("versioned", modelv1.ConfigRolloutVersioned, content)
	}
)

// binaryFile is not valid UTF-8.
var binaryFile = []byte{0xff, 0x00}

// withBinaryFile adds binaryFile to the first config of the box.
func withBinaryFile(spec *modelv1.ModelBoxSpec) {
	spec.Configs[0].BinaryData = map[string][]byte{"logo.ico": binaryFile}
}

// versionOf returns the name of the ConfigMap of the versioned config with the content.
func versionOf(content string) string {
	return helper.VersionedConfigMapName("web", "versioned", map[string]string{framework.ConfigFile: content}, nil)
}

// TestRolloutOfConfigs changes a file of each kind of config, and checks which pods are replaced.
func TestRolloutOfConfigs(t *testing.T) {
	t.Parallel()
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet} {
		t.Run(string(workload), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), restarting("1"), live("1"), versioned("1"), func(spec *modelv1.ModelBoxSpec) {
				spec.Workload = workload
				if workload == modelv1.WorkloadDaemonSet {
					spec.Replicas = nil
				}
			}))
			n.AwaitConfigMaps("web", "web", "web-live", versionOf("1"))

			before, writes := podUIDs(n), len(n.Audit.ClusterWrites())
			n.UpdateBox("web", live("2"))
			n.AwaitReady("web")
			expectFile(n, "web-live", "2")
			framework.ExpectEqual(t, "pods after a live file changed", before, podUIDs(n))
			framework.ExpectEqual(t, "writes for a live file, one of which records the box", 2, len(n.Audit.ClusterWrites())-writes)

			n.UpdateBox("web", restarting("2"))
			n.AwaitReady("web")
			expectFile(n, "web", "2")
			before = expectReplaced(n, before)

			n.UpdateBox("web", versioned("2"))
			n.AwaitReady("web")
			expectFile(n, versionOf("2"), "2")
			expectReplaced(n, before)
			n.AwaitConfigMaps("web", "web", "web-live", versionOf("2"))
			n.Events.Await("web", "PrunedConfigMap", versionOf("1"))

			n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Configs = nil })
			n.AwaitReady("web")
			n.AwaitConfigMaps("web")
		})
	}
}

// TestVersionedFilesStayWhileARolloutIsStuck checks that pods that an update has not replaced keep their files, that pods that are
// created for them have the same files, and that a rollback uses these files.
func TestVersionedFilesStayWhileARolloutIsStuck(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), versioned("1")))
	expectedFirst := n.AwaitConfigMap(versionOf("1"), "is there", func(*corev1.ConfigMap) error { return nil })

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		versioned("2")(spec)
		framework.Unschedulable(spec)
	})
	n.AwaitReadyCondition("web", metav1.ConditionFalse, corev1.PodReasonUnschedulable)
	n.AwaitConfigMaps("web", sorted(versionOf("1"), versionOf("2"))...)

	// A deleted old pod is created again with the same version.
	old := podMounting(n, versionOf("1"))
	if err := n.Pods.Delete(n.Ctx, old.Name, metav1.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Eventually("another pod with the old files runs", func() error {
		if pod := podMounting(n, versionOf("1")); pod.UID == old.UID || pod.Status.Phase != corev1.PodRunning {
			return fmt.Errorf("there is %s, which is %s", pod.Name, pod.Status.Phase)
		}
		return nil
	})
	time.Sleep(time.Second) // time for a controller that would prune ConfigMaps in use
	n.AwaitConfigMaps("web", sorted(versionOf("1"), versionOf("2"))...)

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		versioned("1")(spec)
		spec.PodTemplate = nil
	})
	n.AwaitReady("web")
	n.AwaitConfigMaps("web", versionOf("1"))
	first := n.AwaitConfigMap(versionOf("1"), "is there", func(*corev1.ConfigMap) error { return nil })
	framework.ExpectEqual(t, "the ConfigMap", expectedFirst.UID, first.UID)
}

// TestChangedConfigMapsAreRestored changes and deletes the ConfigMaps of a box.
func TestChangedConfigMapsAreRestored(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", restarting("1"), versioned("1"), withBinaryFile))
	pods := podUIDs(n)
	n.Kubectl.Run("patch", "configmap", "web", "--type=merge", `--patch={"binaryData":{"logo.ico":"AA=="},"data":{"app.conf":"other"}}`)
	expectFile(n, "web", "1")
	n.AwaitConfigMap("web", "has its binary file", func(configMap *corev1.ConfigMap) error {
		if !bytes.Equal(configMap.BinaryData["logo.ico"], binaryFile) {
			return fmt.Errorf("it is %x", configMap.BinaryData)
		}
		return nil
	})
	n.Events.Await("web", "RestoredConfigMap", "kubectl-patch had changed binaryData.logo.ico, data.app.conf")

	for _, name := range []string{"web", versionOf("1")} {
		deleted := n.AwaitConfigMap(name, "is there", func(*corev1.ConfigMap) error { return nil })
		if err := n.ConfigMaps.Delete(n.Ctx, name, metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		n.AwaitConfigMap(name, "comes back", func(configMap *corev1.ConfigMap) error {
			if configMap.UID == deleted.UID || configMap.Data[framework.ConfigFile] != "1" {
				return fmt.Errorf("it is %s with %q", configMap.UID, configMap.Data)
			}
			return nil
		})
	}

	// A ConfigMap that a user has made immutable matches the box until the box changes. Then the controller must replace it.
	n.Kubectl.Run("patch", "configmap", "web", "--type=merge", `--patch={"immutable":true}`)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.MinReadySeconds = ptr.To[int32](0) })
	n.AwaitReady("web")
	n.AwaitConfigMap("web", "stays immutable", func(configMap *corev1.ConfigMap) error {
		if !ptr.Deref(configMap.Immutable, false) {
			return fmt.Errorf("it is %v", configMap.Immutable)
		}
		return nil
	})
	framework.ExpectEqual(t, "pods after all that", pods, podUIDs(n))
	n.UpdateBox("web", restarting("2"))
	n.AwaitReady("web")
	expectFile(n, "web", "2")
	n.Events.Await("web", "ReplacedConfigMap", "it is immutable and has other data")
}

// TestPodsWaitForTheirConfigMaps checks that no pod gets files of another owner, or files that are older than its template.
func TestPodsWaitForTheirConfigMaps(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	foreign := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "web"}, Data: map[string]string{framework.ConfigFile: "foreign"}}
	if _, err := n.ConfigMaps.Create(n.Ctx, foreign, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.CreateBox(framework.NewBox("web", restarting("1")))
	n.AwaitNotOwned("web")
	n.AwaitService("web", "is there", func(*corev1.Service) error { return nil })
	if _, err := n.Deployments.Get(n.Ctx, "web", metav1.GetOptions{}); framework.CheckGone(err) != nil {
		t.Errorf("there is a Deployment: %v", err)
	}
	expectFile(n, "web", "foreign")

	n.Kubectl.Run("annotate", "modelbox", "web", modelv1.AdoptAnnotation+"=true")
	n.AwaitReady("web")
	expectFile(n, "web", "1")
	n.Events.Await("web", "AdoptedConfigMap", "web")
}

func podUIDs(n *framework.Namespace) []types.UID {
	n.T.Helper()
	pods, err := n.LivePods("web")
	if err != nil {
		n.T.Fatal(err)
	}
	var uids []types.UID
	for i := range pods {
		uids = append(uids, pods[i].UID)
	}
	slices.Sort(uids)
	return uids
}

// expectReplaced checks that all of the pods were replaced, and returns the current pods.
func expectReplaced(n *framework.Namespace, before []types.UID) []types.UID {
	n.T.Helper()
	after := podUIDs(n)
	for _, pod := range before {
		if slices.Contains(after, pod) {
			n.T.Errorf("pod %s was not replaced", pod)
		}
	}
	return after
}

// podMounting returns a pod of the box that mounts the ConfigMap, an empty pod if there is none.
func podMounting(n *framework.Namespace, configMap string) *corev1.Pod {
	n.T.Helper()
	pods, err := n.LivePods("web")
	if err != nil {
		n.T.Fatal(err)
	}
	for i := range pods {
		for _, volume := range pods[i].Spec.Volumes {
			if volume.ConfigMap != nil && volume.ConfigMap.Name == configMap {
				return &pods[i]
			}
		}
	}
	return &corev1.Pod{}
}

func expectFile(n *framework.Namespace, configMap, content string) {
	n.T.Helper()
	n.AwaitConfigMap(configMap, fmt.Sprintf("has the file %q", content), func(configMap *corev1.ConfigMap) error {
		if got := configMap.Data[framework.ConfigFile]; got != content {
			return fmt.Errorf("it has %q", got)
		}
		return nil
	})
}

func sorted(names ...string) []string {
	slices.Sort(names)
	return names
}
