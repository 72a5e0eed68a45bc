// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestChildrenHaveOnlyWhatTheBoxSays checks fields that another client owns or owned besides the box: the child has the fields that
// the box sets, and loses the fields that the box no longer sets.
func TestChildrenHaveOnlyWhatTheBoxSays(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(n *framework.Namespace)
	}{
		{"what an adopted Deployment had goes when the box no longer says it", adoptedFieldsGo},
		{"an adopted probe can become one of another kind", adoptedProbeChanges},
		{"an adopted container can get another name", adoptedContainerIsRenamed},
		{"a variable that another client had set first goes with the box's", sharedVariableGoes},
		{"a variable that another client changed and changed back goes with the box's", returnedVariableGoes},
		{"a variable goes although managed fields were cleared", variableGoesWithoutManagedFields},
		{"a child that lost its owner is taken back", ownerIsTakenBack},
		{"a child whose owner no longer controls it is taken back", controllerIsTakenBack},
		{"kubectl rollout undo is reported and reverted", rolloutUndoIsTold},
		{"many fields at once are taken back", manyFieldsAreTakenBack},
		{"a Service that was made headless is replaced, with the fields of other managers", headlessServiceIsReplaced},
		{"a change of the box goes through although another client switched a union", updateOfASwitchedUnion},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(framework.NewNamespace(t))
		})
	}
}

// adoptHandMade creates a Deployment and a Service manually, as kubectl create does, and lets a box adopt them.
func adoptHandMade(n *framework.Namespace, changes ...func(*modelv1.ModelBoxSpec)) {
	n.T.Helper()
	labels := map[string]string{modelv1.SelectorLabel: "web"}
	_, err := n.Deployments.Create(n.Ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: framework.Image,
					Env:            []corev1.EnvVar{framework.EnvValue("A", "1"), framework.EnvValue("B", "2"), framework.EnvValue("HAND", "made")},
					ReadinessProbe: &corev1.Probe{ProbeHandler: framework.HTTPGet},
					Ports:          []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 81}},
				}}},
			},
		},
	}, metav1.CreateOptions{FieldManager: "kubectl-create"})
	if err != nil {
		n.T.Fatal(err)
	}
	_, err = n.Services.Create(n.Ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Name: "tcp-80", Port: 80}, {Name: "tcp-81", Port: 81}}},
	}, metav1.CreateOptions{FieldManager: "kubectl-create"})
	if err != nil {
		n.T.Fatal(err)
	}
	n.CreateBox(adoptingBox("web", append([]func(*modelv1.ModelBoxSpec){
		framework.WithReplicas(0), framework.WithEnvs(framework.EnvValue("A", "1"), framework.EnvValue("B", "2")), framework.WithReadinessProbe(framework.HTTPGet),
		framework.WithPorts(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 81}),
	}, changes...)...))
	n.AwaitApplied("web")
}

func adoptedFieldsGo(n *framework.Namespace) {
	adoptHandMade(n)
	framework.ExpectEqual(n.T, "variables", "A=1 B=2", variables(n.GetDeployment("web")))
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Envs, spec.Ports = spec.Envs[:1], spec.Ports[:1]
	})
	n.AwaitApplied("web")
	framework.ExpectEqual(n.T, "variables", "A=1", variables(n.GetDeployment("web")))
	framework.ExpectEqual(n.T, "container ports", 1, len(n.GetDeployment("web").Spec.Template.Spec.Containers[0].Ports))
	framework.ExpectEqual(n.T, "ports of the Service", 1, len(n.GetService("web").Spec.Ports))
}

func adoptedProbeChanges(n *framework.Namespace) {
	adoptHandMade(n)
	n.UpdateBox("web", framework.WithReadinessProbe(framework.TCPSocket))
	n.AwaitApplied("web")
	probe := n.GetDeployment("web").Spec.Template.Spec.Containers[0].ReadinessProbe
	if probe.HTTPGet != nil || probe.TCPSocket == nil {
		n.T.Errorf("the probe is %v", probe)
	}
}

func adoptedContainerIsRenamed(n *framework.Namespace) {
	adoptHandMade(n)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Name = "other" })
	n.AwaitApplied("web")
	framework.ExpectEqual(n.T, "containers", "[other]", fmt.Sprint(framework.ContainerNames(n.GetDeployment("web").Spec.Template.Spec.Containers)))
}

func sharedVariableGoes(n *framework.Namespace) {
	n.CreateBox(framework.NewBox("web", framework.WithReplicas(0), framework.WithEnvs(framework.EnvValue("A", "1"))))
	n.AwaitApplied("web")
	n.PatchDeployment("web", `[{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}}]`)
	n.UpdateBox("web", framework.WithEnvs(framework.EnvValue("A", "1"), framework.EnvValue("B", "2")))
	n.AwaitApplied("web")
	n.UpdateBox("web", framework.WithEnvs(framework.EnvValue("A", "1")))
	n.AwaitApplied("web")
	framework.ExpectEqual(n.T, "variables", "A=1", variables(n.GetDeployment("web")))
}

func returnedVariableGoes(n *framework.Namespace) {
	n.CreateBox(framework.NewBox("web", framework.WithReplicas(0), framework.WithEnvs(framework.EnvValue("A", "1"), framework.EnvValue("B", "2"))))
	n.AwaitApplied("web")
	// At the end, only the field manager of the variable differs.
	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "3"}]`)
	tryToPatchDeployment(n, "web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "2"}]`)
	n.UpdateBox("web", framework.WithEnvs(framework.EnvValue("A", "1")))
	n.AwaitApplied("web")
	n.AwaitDeployment("web", "has no variable B", func(d *appsv1.Deployment) error { return expectVariables(d, "A=1") })
}

// tryToPatchDeployment changes a Deployment that other clients may change concurrently.
func tryToPatchDeployment(n *framework.Namespace, name, patch string) {
	n.T.Helper()
	n.Eventually("Deployment "+name+" is changed", func() error {
		_, err := n.Deployments.Patch(n.Ctx, name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: framework.OtherManager})
		return err
	})
}

func variableGoesWithoutManagedFields(n *framework.Namespace) {
	n.CreateBox(framework.NewBox("web", framework.WithReplicas(0), framework.WithEnvs(framework.EnvValue("A", "1"), framework.EnvValue("B", "2"))))
	n.AwaitApplied("web")
	tryToPatchDeployment(n, "web", `[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]`)
	n.AwaitDeployment("web", "is the box's again", func(d *appsv1.Deployment) error {
		for _, entry := range d.ManagedFields {
			if entry.Manager == "modelbox-apiserver" {
				return nil
			}
		}
		return errors.New("nothing of it is")
	})
	n.UpdateBox("web", framework.WithEnvs(framework.EnvValue("A", "1")))
	n.AwaitApplied("web")
	framework.ExpectEqual(n.T, "variables", "A=1", variables(n.GetDeployment("web")))
	for _, event := range n.Events.About("web") {
		if strings.HasPrefix(event.Reason, "Restored") {
			n.T.Errorf("an event reports a restore, but nothing was to be restored: %s", event.Note)
		}
	}
}

func ownerIsTakenBack(n *framework.Namespace) {
	box := n.CreateReadyBox(framework.NewBox("web"))
	n.PatchDeployment("web", `[{"op": "remove", "path": "/metadata/ownerReferences"}]`)
	awaitControlled(n, box)
	n.Events.Await("web", "RestoredDeployment", "ownerReferences")
	n.AwaitReady("web")
}

func controllerIsTakenBack(n *framework.Namespace) {
	box := n.CreateReadyBox(framework.NewBox("web"))
	n.PatchDeployment("web", `[{"op": "replace", "path": "/metadata/ownerReferences/0/controller", "value": false}]`)
	awaitControlled(n, box)
	n.Events.Await("web", "RestoredDeployment", framework.OtherManager, "ownerReferences")
}

func awaitControlled(n *framework.Namespace, box *modelv1.ModelBox) {
	n.T.Helper()
	n.AwaitDeployment(box.Name, "is controlled by the box", func(d *appsv1.Deployment) error {
		if !metav1.IsControlledBy(d, box) {
			return fmt.Errorf("its owners are %v", d.OwnerReferences)
		}
		return nil
	})
}

func rolloutUndoIsTold(n *framework.Namespace) {
	n.CreateReadyBox(framework.NewBox("web"))
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
	n.Kubectl.Run("rollout", "undo", "deployment/web")
	n.Events.Await("web", "RestoredDeployment", "kubectl had changed", "image")
	n.AwaitReady("web")
	framework.ExpectEqual(n.T, "image", framework.NewImage, imageOf(n.GetDeployment("web")))
}

func manyFieldsAreTakenBack(n *framework.Namespace) {
	n.CreateBox(framework.NewBox("web", framework.WithReplicas(0)))
	n.AwaitApplied("web")
	before := n.GetDeployment("web")
	n.Kubectl.Run("patch", "deployment", "web", "--type=merge", "-p", `{"metadata":{"labels":{"modelbox":"x"}},"spec":{"replicas":2,
		"minReadySeconds":7,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1}}}}`)
	n.AwaitDeployment("web", "is as it was", func(d *appsv1.Deployment) error {
		if d.Labels["modelbox"] != "web" {
			return fmt.Errorf("its labels are %v", d.Labels)
		}
		if diff := cmp.Diff(before.Spec, d.Spec); diff != "" {
			return fmt.Errorf("(-before +now):\n%s", diff)
		}
		return nil
	})
	n.Events.Await("web", "RestoredDeployment", "kubectl-patch", "…")
}

// The box is paused meanwhile, because making a Service headless takes two steps.
func headlessServiceIsReplaced(n *framework.Namespace) {
	n.CreateBox(framework.NewBox("web", framework.WithReplicas(0)))
	n.AwaitApplied("web")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
	patchService(n, "web", `{"metadata": {"labels": {"example.com/team": "ours"}}, "spec": {"sessionAffinity": "ClientIP"}}`)
	patchService(n, "web", `{"spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": "", "clusterIPs": null}}`)
	patchService(n, "web", `{"spec": {"type": "ClusterIP", "externalName": null, "clusterIP": "None"}}`)
	headless := n.GetService("web")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
	service := n.AwaitService("web", "has an address", func(s *corev1.Service) error {
		if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone {
			return fmt.Errorf("its address is %q", s.Spec.ClusterIP)
		}
		if s.Labels["example.com/team"] != "ours" || s.Spec.SessionAffinity != corev1.ServiceAffinityClientIP {
			return fmt.Errorf("the fields of another client are lost: labels %v, affinity %s", s.Labels, s.Spec.SessionAffinity)
		}
		return nil
	})
	if err := isAnother(service, headless); err != nil {
		n.T.Error(err)
	}
	n.Events.Await("web", "ReplacedService", "headless")
	n.AwaitApplied("web")
}

func patchService(n *framework.Namespace, name, patch string) {
	n.T.Helper()
	if _, err := n.Services.Patch(n.Ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: framework.OtherManager}); err != nil {
		n.T.Fatalf("changing Service %s: %v", name, err)
	}
}

// The box is paused meanwhile, so that only the update conflicts with the change of the other client.
func updateOfASwitchedUnion(n *framework.Namespace) {
	n.CreateBox(framework.NewBox("web", framework.WithReplicas(0), framework.WithReadinessProbe(framework.TCPSocket), framework.WithEnvs(framework.EnvValue("A", "1"))))
	n.AwaitApplied("web")
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/readinessProbe", "value": {"exec": {"command": ["evil"]}}}]`)
	n.PatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0", "value": {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}}]`)
	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Paused, spec.Image = false, framework.NewImage
		spec.ReadinessProbe.TCPSocket.Port = intstr.FromInt32(81)
	})
	n.AwaitApplied("web")
	main := n.GetDeployment("web").Spec.Template.Spec.Containers[0]
	framework.ExpectEqual(n.T, "image", framework.NewImage, main.Image)
	framework.ExpectEqual(n.T, "variables", "A=1", variables(n.GetDeployment("web")))
	if main.ReadinessProbe.Exec != nil || main.ReadinessProbe.TCPSocket.Port.IntValue() != 81 {
		n.T.Errorf("the probe is %v", main.ReadinessProbe)
	}
}

// variables returns the variables of the main container, as A=1 B=2.
func variables(deployment *appsv1.Deployment) string {
	var words []string
	for _, variable := range deployment.Spec.Template.Spec.Containers[0].Env {
		words = append(words, variable.Name+"="+variable.Value)
	}
	return strings.Join(words, " ")
}

func expectVariables(deployment *appsv1.Deployment, want string) error {
	if got := variables(deployment); got != want {
		return fmt.Errorf("its variables are %s", got)
	}
	return nil
}
