// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

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
)

// TestOwnership is about fields that somebody else has, or had, besides the box: what the box says is there, and what it
// no longer says goes.
func TestOwnership(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name string
		run  func(n *namespace)
	}{
		{"what an adopted Deployment had goes when the box no longer says it", adoptedFieldsGo},
		{"an adopted probe can become one of another kind", adoptedProbeChanges},
		{"an adopted container can get another name", adoptedContainerIsRenamed},
		{"a variable that somebody had set first goes with the box's", sharedVariableGoes},
		{"a variable that somebody changed and changed back goes with the box's", returnedVariableGoes},
		{"a variable goes although managed fields were cleared", variableGoesWithoutManagedFields},
		{"a child that lost its owner is taken back", ownerIsTakenBack},
		{"a child whose owner no longer controls it is taken back", controllerIsTakenBack},
		{"kubectl rollout undo is told and taken back", rolloutUndoIsTold},
		{"many fields at once are taken back", manyFieldsAreTakenBack},
		{"a Service that was made headless is replaced, with what others had set", headlessServiceIsReplaced},
		{"a change of the box goes through although somebody switched a union", updateOfASwitchedUnion},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(newNamespace(t))
		})
	}
}

// adopt makes a Deployment and a Service by hand, in the way of kubectl create, and lets a box adopt them.
func (n *namespace) adopt(changes ...func(*modelv1.ModelBoxSpec)) {
	n.t.Helper()
	labels := map[string]string{modelv1.SelectorLabel: "web"}
	_, err := n.deployments.Create(n.ctx, &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: new(int32),
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: corev1.PodSpec{Containers: []corev1.Container{{
					Name: "web", Image: image,
					Env:            []corev1.EnvVar{value("A", "1"), value("B", "2"), value("HAND", "made")},
					ReadinessProbe: &corev1.Probe{ProbeHandler: httpGet},
					Ports:          []corev1.ContainerPort{{ContainerPort: 80}, {ContainerPort: 81}},
				}}},
			},
		},
	}, metav1.CreateOptions{FieldManager: "kubectl-create"})
	if err != nil {
		n.t.Fatal(err)
	}
	_, err = n.services.Create(n.ctx, &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: "web"},
		Spec:       corev1.ServiceSpec{Selector: labels, Ports: []corev1.ServicePort{{Name: "tcp-80", Port: 80}, {Name: "tcp-81", Port: 81}}},
	}, metav1.CreateOptions{FieldManager: "kubectl-create"})
	if err != nil {
		n.t.Fatal(err)
	}
	n.create(adoptingBox("web", append([]func(*modelv1.ModelBoxSpec){
		withReplicas(0), withEnvs(value("A", "1"), value("B", "2")), withProbe(httpGet),
		withPorts(corev1.ServicePort{Port: 80}, corev1.ServicePort{Port: 81}),
	}, changes...)...))
	n.awaitApplied("web")
}

func adoptedFieldsGo(n *namespace) {
	n.adopt()
	expectEqual(n.t, "variables", "A=1 B=2", variables(n.deployment("web")))
	n.change("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Envs, spec.Ports = spec.Envs[:1], spec.Ports[:1]
	})
	n.awaitApplied("web")
	expectEqual(n.t, "variables", "A=1", variables(n.deployment("web")))
	expectEqual(n.t, "container ports", 1, len(n.deployment("web").Spec.Template.Spec.Containers[0].Ports))
	expectEqual(n.t, "ports of the Service", 1, len(n.service("web").Spec.Ports))
}

func adoptedProbeChanges(n *namespace) {
	n.adopt()
	n.change("web", withProbe(tcpSocket))
	n.awaitApplied("web")
	probe := n.deployment("web").Spec.Template.Spec.Containers[0].ReadinessProbe
	if probe.HTTPGet != nil || probe.TCPSocket == nil {
		n.t.Errorf("the probe is %v", probe)
	}
}

func adoptedContainerIsRenamed(n *namespace) {
	n.adopt()
	n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Name = "other" })
	n.awaitApplied("web")
	expectEqual(n.t, "containers", "[other]", fmt.Sprint(namesOf(n.deployment("web").Spec.Template.Spec.Containers)))
}

func sharedVariableGoes(n *namespace) {
	n.create(newBox("web", withReplicas(0), withEnvs(value("A", "1"))))
	n.awaitApplied("web")
	n.patchDeployment("web", `[{"op": "add", "path": "/spec/template/spec/containers/0/env/-", "value": {"name": "B", "value": "2"}}]`)
	n.change("web", withEnvs(value("A", "1"), value("B", "2")))
	n.awaitApplied("web")
	n.change("web", withEnvs(value("A", "1")))
	n.awaitApplied("web")
	expectEqual(n.t, "variables", "A=1", variables(n.deployment("web")))
}

func returnedVariableGoes(n *namespace) {
	n.create(newBox("web", withReplicas(0), withEnvs(value("A", "1"), value("B", "2"))))
	n.awaitApplied("web")
	// Nothing differs in the end, but for whose the variable is.
	n.patchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "3"}]`)
	n.tryToPatchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/1/value", "value": "2"}]`)
	n.change("web", withEnvs(value("A", "1")))
	n.awaitApplied("web")
	n.awaitDeployment("web", "has no variable B", func(d *appsv1.Deployment) error { return expectVariables(d, "A=1") })
}

// tryToPatchDeployment changes a Deployment that may be changed by others at the same time.
func (n *namespace) tryToPatchDeployment(name, patch string) {
	n.t.Helper()
	n.eventually("Deployment "+name+" is changed", func() error {
		_, err := n.deployments.Patch(n.ctx, name, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: somebodyElse})
		return err
	})
}

func variableGoesWithoutManagedFields(n *namespace) {
	n.create(newBox("web", withReplicas(0), withEnvs(value("A", "1"), value("B", "2"))))
	n.awaitApplied("web")
	n.tryToPatchDeployment("web", `[{"op": "replace", "path": "/metadata/managedFields", "value": [{}]}]`)
	n.awaitDeployment("web", "is the box's again", func(d *appsv1.Deployment) error {
		for _, entry := range d.ManagedFields {
			if entry.Manager == "modelbox-apiserver" {
				return nil
			}
		}
		return errors.New("nothing of it is")
	})
	n.change("web", withEnvs(value("A", "1")))
	n.awaitApplied("web")
	expectEqual(n.t, "variables", "A=1", variables(n.deployment("web")))
	for _, event := range n.eventsAbout("web") {
		if strings.HasPrefix(event.Reason, "Restored") {
			n.t.Errorf("an event tells of a restore, but nothing was to be restored: %s", event.Note)
		}
	}
}

func ownerIsTakenBack(n *namespace) {
	box := n.createReady(newBox("web"))
	n.patchDeployment("web", `[{"op": "remove", "path": "/metadata/ownerReferences"}]`)
	n.awaitControlled(box)
	n.awaitEvent("web", "RestoredDeployment", "ownerReferences")
	n.awaitReady("web")
}

func controllerIsTakenBack(n *namespace) {
	box := n.createReady(newBox("web"))
	n.patchDeployment("web", `[{"op": "replace", "path": "/metadata/ownerReferences/0/controller", "value": false}]`)
	n.awaitControlled(box)
	n.awaitEvent("web", "RestoredDeployment", somebodyElse, "ownerReferences")
}

func (n *namespace) awaitControlled(box *modelv1.ModelBox) {
	n.t.Helper()
	n.awaitDeployment(box.Name, "is controlled by the box", func(d *appsv1.Deployment) error {
		if !metav1.IsControlledBy(d, box) {
			return fmt.Errorf("its owners are %v", d.OwnerReferences)
		}
		return nil
	})
}

func rolloutUndoIsTold(n *namespace) {
	n.createReady(newBox("web"))
	n.change("web", withImage(newImage))
	n.awaitReady("web")
	n.kubectl("rollout", "undo", "deployment/web")
	n.awaitEvent("web", "RestoredDeployment", "kubectl had changed", "image")
	n.awaitReady("web")
	expectEqual(n.t, "image", newImage, imageOf(n.deployment("web")))
}

func manyFieldsAreTakenBack(n *namespace) {
	n.create(newBox("web", withReplicas(0)))
	n.awaitApplied("web")
	before := n.deployment("web")
	n.kubectl("patch", "deployment", "web", "--type=merge", "-p", `{"metadata":{"labels":{"modelbox":"x"}},"spec":{"replicas":2,
		"minReadySeconds":7,"strategy":{"rollingUpdate":{"maxSurge":1,"maxUnavailable":1}}}}`)
	n.awaitDeployment("web", "is as it was", func(d *appsv1.Deployment) error {
		if d.Labels["modelbox"] != "web" {
			return fmt.Errorf("its labels are %v", d.Labels)
		}
		if diff := cmp.Diff(before.Spec, d.Spec); diff != "" {
			return fmt.Errorf("(-before +now):\n%s", diff)
		}
		return nil
	})
	n.awaitEvent("web", "RestoredDeployment", "kubectl-patch", "…")
}

// The box is paused meanwhile: it takes two steps to make a Service headless.
func headlessServiceIsReplaced(n *namespace) {
	n.create(newBox("web", withReplicas(0)))
	n.awaitApplied("web")
	n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
	n.patchService("web", `{"metadata": {"labels": {"example.com/team": "ours"}}, "spec": {"sessionAffinity": "ClientIP"}}`)
	n.patchService("web", `{"spec": {"type": "ExternalName", "externalName": "example.com", "clusterIP": "", "clusterIPs": null}}`)
	n.patchService("web", `{"spec": {"type": "ClusterIP", "externalName": null, "clusterIP": "None"}}`)
	headless := n.service("web")
	n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = false })
	service := n.awaitService("web", "has an address", func(s *corev1.Service) error {
		if s.Spec.ClusterIP == "" || s.Spec.ClusterIP == corev1.ClusterIPNone {
			return fmt.Errorf("its address is %q", s.Spec.ClusterIP)
		}
		if s.Labels["example.com/team"] != "ours" || s.Spec.SessionAffinity != corev1.ServiceAffinityClientIP {
			return fmt.Errorf("what somebody had set is lost: labels %v, affinity %s", s.Labels, s.Spec.SessionAffinity)
		}
		return nil
	})
	if err := isAnother(service, headless); err != nil {
		n.t.Error(err)
	}
	n.awaitEvent("web", "ReplacedService", "headless")
	n.awaitApplied("web")
}

func (n *namespace) patchService(name, patch string) {
	n.t.Helper()
	if _, err := n.services.Patch(n.ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{FieldManager: somebodyElse}); err != nil {
		n.t.Fatalf("changing Service %s: %v", name, err)
	}
}

// The box is paused meanwhile, so that it is the update that meets what somebody did.
func updateOfASwitchedUnion(n *namespace) {
	n.create(newBox("web", withReplicas(0), withProbe(tcpSocket), withEnvs(value("A", "1"))))
	n.awaitApplied("web")
	n.change("web", func(spec *modelv1.ModelBoxSpec) { spec.Paused = true })
	n.patchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/readinessProbe", "value": {"exec": {"command": ["evil"]}}}]`)
	n.patchDeployment("web", `[{"op": "replace", "path": "/spec/template/spec/containers/0/env/0", "value": {"name": "A", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}}}]`)
	n.change("web", func(spec *modelv1.ModelBoxSpec) {
		spec.Paused, spec.Image = false, newImage
		spec.ReadinessProbe.TCPSocket.Port = intstr.FromInt32(81)
	})
	n.awaitApplied("web")
	main := n.deployment("web").Spec.Template.Spec.Containers[0]
	expectEqual(n.t, "image", newImage, main.Image)
	expectEqual(n.t, "variables", "A=1", variables(n.deployment("web")))
	if main.ReadinessProbe.Exec != nil || main.ReadinessProbe.TCPSocket.Port.IntValue() != 81 {
		n.t.Errorf("the probe is %v", main.ReadinessProbe)
	}
}

// variables are those of the main container, as A=1 B=2.
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
