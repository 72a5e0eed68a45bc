// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// referring lets the pods refer to all keys of a ConfigMap, and restart when it changes.
func referring(configMap string) func(*modelv1.ModelBoxSpec) {
	return func(spec *modelv1.ModelBoxSpec) {
		spec.RestartOn = ptr.To(modelv1.RestartOnReferences)
		spec.EnvFrom = []corev1.EnvFromSource{{ConfigMapRef: &corev1.ConfigMapEnvSource{LocalObjectReference: corev1.LocalObjectReference{Name: configMap}}}}
	}
}

// TestChangedReferencesRestartABox checks that each change of a ConfigMap or of the references is exactly one revision.
func TestChangedReferencesRestartABox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, name := range []string{"first", "second"} {
		n.Kubectl.Run("create", "configmap", name, "--from-literal=LEVEL=info")
	}
	n.CreateReadyBox(framework.NewBox("web", referring("first")))
	awaitRevisions(n, "web", 1)

	n.Kubectl.Run("label", "configmap/first", "team=shop")
	n.Kubectl.Run("patch", "configmap/first", `--patch={"data":{"LEVEL":"debug"}}`)
	awaitRevisions(n, "web", 2)
	n.Events.Await("web", "Restarted", "ConfigMap first (LEVEL)")

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		referring("second")(spec)
		spec.Image = framework.NewImage
	})
	awaitRevisions(n, "web", 3)

	n.Kubectl.Run("delete", "configmap/second")
	awaitRevisions(n, "web", 4)
	n.Events.Await("web", "Restarted", "ConfigMap second (deleted)")
	n.Kubectl.Run("create", "configmap", "second", "--from-literal=LEVEL=info")
	n.AwaitBox("web", "has the pods of the third revision again", func(box *modelv1.ModelBox) error {
		if revision := n.GetDeployment("web").Annotations["deployment.kubernetes.io/revision"]; revision != "5" {
			return fmt.Errorf("its Deployment has revision %s, want 5", revision)
		}
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	})
	history := n.Kubectl.Run("get", "--raw", "/apis/model.github.com/v1/namespaces/"+n.Name+"/modelboxes/web/history")
	if !strings.Contains(history, "ConfigMap/first") || strings.Contains(history, "debug") {
		t.Errorf("the history does not have the references, or has a value:\n%s", history)
	}

	// A file does not have the hashes.
	box := n.GetBox("web")
	box.ManagedFields, box.Spec.PodTemplate, box.Spec.Replicas = nil, nil, ptr.To[int32](2)
	if _, err := n.Boxes.Update(n.Ctx, box, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("web")
	framework.ExpectEqual(t, "revision after a replacement", "5", n.GetDeployment("web").Annotations["deployment.kubernetes.io/revision"])

	// The pods of a former revision get the hashes of now: the data is not rolled back.
	n.Kubectl.Run("patch", "configmap/first", `--patch={"data":{"LEVEL":"warn"}}`)
	if _, err := n.Boxes.CreateRollback(n.Ctx, "web", &modelv1.ModelBoxRollback{ToRevision: 1}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("web")
	awaitRevisions(n, "web", 5)
	if got := n.GetDeployment("web").Spec.Template; got.Spec.Containers[0].Image == framework.NewImage || got.Annotations[modelv1.ReferencesAnnotation] == "" {
		t.Errorf("after a rollback, the image is %s and the annotations are %v", got.Spec.Containers[0].Image, got.Annotations)
	}
}

// TestPodsWaitForTheirReferences checks that the pods of a new box start once, with every workload, and that its Job before them runs once.
func TestPodsWaitForTheirReferences(t *testing.T) {
	t.Parallel()
	for _, workload := range []modelv1.Workload{modelv1.WorkloadDeployment, modelv1.WorkloadStatefulSet, modelv1.WorkloadDaemonSet} {
		t.Run(string(workload), func(t *testing.T) {
			t.Parallel()
			n := framework.NewNamespace(t)
			n.Kubectl.Run("create", "configmap", "settings", "--from-literal=LEVEL=info")
			n.CreateReadyBox(framework.NewBox("web", framework.WithWorkload(workload), referring("settings"), func(spec *modelv1.ModelBoxSpec) {
				spec.Before = &modelv1.ModelBoxJob{Command: []string{"migrate"}}
			}))
			jobs, err := n.ControlPlane.KubeClient.BatchV1().Jobs(n.Name).List(n.Ctx, metav1.ListOptions{})
			if err != nil {
				t.Fatal(err)
			}
			framework.ExpectEqual(t, "Jobs", 1, len(jobs.Items))
			n.Kubectl.Run("patch", "configmap/settings", `--patch={"data":{"LEVEL":"debug"}}`)
			n.Eventually("every pod has the new hashes", func() error {
				pods, err := n.LivePods("web")
				if err != nil {
					return err
				}
				want := n.GetBox("web").Spec.PodTemplate.Annotations[modelv1.ReferencesAnnotation]
				for _, pod := range pods {
					if pod.Annotations[modelv1.ReferencesAnnotation] != want {
						return fmt.Errorf("pod %s has others", pod.Name)
					}
				}
				if jobs, err := n.ControlPlane.KubeClient.BatchV1().Jobs(n.Name).List(n.Ctx, metav1.ListOptions{}); err != nil || len(jobs.Items) != 2 {
					return fmt.Errorf("there are %d Jobs, want one for each revision, %w", len(jobs.Items), err)
				}
				return framework.CheckCondition(n.GetBox("web"), modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
			})
		})
	}
}

// awaitRevisions waits until the box is ready and its Deployment has had exactly so many pod templates.
func awaitRevisions(n *framework.Namespace, name string, want int) {
	n.T.Helper()
	n.Eventually(fmt.Sprintf("box %s has %d revisions", name, want), func() error {
		replicaSets, err := n.ControlPlane.KubeClient.AppsV1().ReplicaSets(n.Name).List(n.Ctx, metav1.ListOptions{LabelSelector: modelv1.SelectorLabel + "=" + name})
		if err != nil {
			return err
		}
		if got := len(replicaSets.Items); got != want {
			return fmt.Errorf("there are %d ReplicaSets", got)
		}
		box := n.GetBox(name)
		if box.Status.ObservedGeneration != box.Generation {
			return errors.New("the controller has not seen the last change")
		}
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionTrue, modelv1.ReasonReady)
	})
}
