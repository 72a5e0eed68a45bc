// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package plugin

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// running has the objects that a conversion must not change.
type running struct {
	// Pods has the UIDs and restarts of pods by name, and ReplicaSets the UIDs of ReplicaSets.
	Pods        map[string]podIdentity
	ReplicaSets map[string]types.UID
	// Addresses has the addresses of Services, with their node ports.
	Addresses map[string][]string
}

type podIdentity struct {
	UID      types.UID
	Restarts int32
}

func whatRuns(n *framework.Namespace) running {
	n.T.Helper()
	is := running{map[string]podIdentity{}, map[string]types.UID{}, map[string][]string{}}
	pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		identity := podIdentity{UID: pod.UID}
		for j := range pod.Status.ContainerStatuses {
			identity.Restarts += pod.Status.ContainerStatuses[j].RestartCount
		}
		is.Pods[pod.Name] = identity
	}
	for line := range strings.Lines(n.Kubectl.Run("get", "replicasets", "--no-headers", "--output=custom-columns=NAME:.metadata.name,UID:.metadata.uid")) {
		name, uid, _ := strings.Cut(strings.TrimSpace(line), " ")
		is.ReplicaSets[name] = types.UID(strings.TrimSpace(uid))
	}
	services, err := n.Services.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	for i := range services.Items {
		service := &services.Items[i]
		addresses := service.Spec.ClusterIPs
		for j := range service.Spec.Ports {
			addresses = append(addresses, service.Spec.Ports[j].String())
		}
		is.Addresses[service.Name] = addresses
	}
	return is
}

// expectServed fails unless each Service still selects the same pods.
func expectServed(n *framework.Namespace, selected map[string]int) {
	n.T.Helper()
	if diff := cmp.Diff(selected, selectedPods(n)); diff != "" {
		n.T.Errorf("the pods that Services select (-want +got):\n%s", diff)
	}
}

func selectedPods(n *framework.Namespace) map[string]int {
	n.T.Helper()
	selected := map[string]int{}
	services, err := n.Services.List(n.Ctx, metav1.ListOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	for i := range services.Items {
		selector := labels.FormatLabels(services.Items[i].Spec.Selector)
		pods, err := n.Pods.List(n.Ctx, metav1.ListOptions{LabelSelector: selector})
		if err != nil {
			n.T.Fatal(err)
		}
		selected[services.Items[i].Name] = len(pods.Items)
	}
	return selected
}

// newDeployments applies a file of Deployments and Services, and waits until all pods run.
func newDeployments(t *testing.T, file string) *framework.Namespace {
	t.Helper()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("apply", "--filename="+file)
	n.Kubectl.Run("wait", "deployment", "--all", "--for=condition=Available", "--timeout=5m")
	n.Kubectl.Run("rollout", "status", "deployment", "--timeout=5m")
	return n
}

func TestConvertAdoptsWhatRuns(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/deployments/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("got files %v, %v", files, err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			n := newDeployments(t, file)
			before, served := whatRuns(n), selectedPods(n)
			deployments := strings.Fields(n.Kubectl.Run("get", "deployment", "--output=jsonpath={.items[*].metadata.name}"))
			adopted := strings.Fields(run(n, "convert", "deployment", "--adopt", "--output=name"))
			if len(adopted) != len(deployments) {
				t.Errorf("%d of %d Deployments are adopted: %v", len(adopted), len(deployments), adopted)
			}
			for _, name := range deployments {
				box := n.AwaitReady(name)
				if _, adopts := box.Annotations[modelv1.AdoptAnnotation]; adopts {
					t.Errorf("box %s still has the annotation %s", name, modelv1.AdoptAnnotation)
				}
				if deployment := n.GetDeployment(name); deployment.Spec.Paused || !metav1.IsControlledBy(deployment, box) {
					t.Errorf("Deployment %s: paused %v, owners %v", name, deployment.Spec.Paused, deployment.OwnerReferences)
				}
				if len(box.Spec.Ports) > 0 {
					n.ExpectConverged(name)
				}
			}
			if diff := cmp.Diff(before, whatRuns(n)); diff != "" {
				t.Errorf("-before +after:\n%s", diff)
			}
			expectServed(n, served)
		})
	}
}

func TestConvertPrintsABoxThatCanBeApplied(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("create", "deployment", "web", "--image="+framework.Image, "--replicas=2", "--port=80")
	n.Kubectl.Run("expose", "deployment", "web", "--port=80")
	n.Kubectl.Run("rollout", "status", "deployment/web", "--timeout=5m")
	want := `apiVersion: model.github.com/v1
kind: ModelBox
metadata:
  annotations:
    model.github.com/adopt: "true"
  name: web
  namespace: ` + n.Name + `
spec:
  defaultProbes: Disabled
  image: ` + framework.Image + `
  minReadySeconds: 0
  name: nginx
  podTemplate:
    metadata:
      labels:
        app: web
  ports:
  - port: 80
  replicas: 2
`
	manifest := run(n, "convert", "web")
	if diff := cmp.Diff(want, manifest); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
	n.AwaitReady("web")
	if got := selectedPods(n)["web"]; got < 2 {
		t.Errorf("the Service selects %d pods", got)
	}
}

func TestConvertGoesOnWithWhatWasBegun(t *testing.T) {
	t.Parallel()
	n := newDeployments(t, "testdata/deployments/guestbook.yaml")
	before, served := whatRuns(n), selectedPods(n)
	manifest := run(n, "convert", "redis-master")
	n.Kubectl.Run("rollout", "pause", "deployment/redis-master")
	expectFailure(n, []string{"it is paused: run kubectl rollout resume deployment/redis-master"}, "convert", "redis-master", "--adopt")
	// An interruption leaves a box that has adopted a paused Deployment.
	n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
	n.AwaitApplied("redis-master")
	run(n, "convert", "redis-master", "--adopt")
	n.AwaitReady("redis-master")
	n.ExpectConverged("redis-master")
	if diff := cmp.Diff(before, whatRuns(n)); diff != "" {
		t.Errorf("-before +after:\n%s", diff)
	}
	expectServed(n, served)
}

func TestConvertRefusesWithTheReason(t *testing.T) {
	t.Parallel()
	n := newBox(t, "web")
	n.Kubectl.Run("create", "deployment", "labelled", "--image="+framework.Image)
	n.Kubectl.Run("patch", "deployment", "labelled", "--patch", `{"spec": {"template": {"metadata": {"labels": {"modelbox": "another"}}}}}`)
	n.Kubectl.Run("create", "deployment", "1st", "--image="+framework.Image)
	n.CreateBox(framework.NewBox("taken", func(spec *modelv1.ModelBoxSpec) { spec.Paused = true }))
	n.Kubectl.Run("create", "deployment", "taken", "--image="+framework.Image)
	n.Kubectl.RunWithInput(`{apiVersion: apps/v1, kind: StatefulSet, metadata: {name: db}, spec: {serviceName: db, replicas: 0,
		selector: {matchLabels: {app: db}}, template: {metadata: {labels: {app: db}}, spec: {containers: [{name: db, image: "`+framework.Image+`"}]}}}}`,
		"apply", "--filename=-")
	for _, name := range []string{"labelled", "1st", "taken"} {
		n.Kubectl.Run("rollout", "status", "deployment/"+name, "--timeout=5m")
	}
	before := n.Kubectl.Run("get", "deployment,replicaset", "--output=name")
	for _, row := range []struct {
		argument string
		want     []string
	}{
		{"web", []string{"Refused: it is controlled by ModelBox web", "a box cannot adopt it as it is"}},
		{"labelled", []string{`Refused: spec.template.metadata.labels[modelbox] of the Deployment is "another"`}},
		{"1st", []string{"Refused:", "metadata.name"}},
		{"taken", []string{"Refused:", `"taken" already exists`}},
		{"statefulset/db", []string{"only a Deployment can be adopted"}},
		{"gone", []string{`"gone" not found`}},
	} {
		expectFailure(n, row.want, "convert", row.argument, "--adopt")
	}
	expectFailure(n, []string{"one or more Deployments must be specified"}, "convert")
	if after := n.Kubectl.Run("get", "deployment,replicaset", "--output=name"); after != before {
		t.Errorf("there was\n%s\nand is\n%s", before, after)
	}
}

func TestConvertLeavesServicesOfOthers(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	for _, name := range []string{"web", "canary"} {
		n.Kubectl.Run("create", "deployment", name, "--image="+framework.Image, "--port=80")
		n.Kubectl.Run("patch", "deployment", name, "--patch", `{"spec": {"template": {"metadata": {"labels": {"shop": "front"}}}}}`)
		n.Kubectl.Run("rollout", "status", "deployment/"+name, "--timeout=5m")
	}
	n.Kubectl.Run("create", "service", "clusterip", "web", "--tcp=80")
	n.Kubectl.Run("set", "selector", "service/web", "shop=front")
	result := modelbox(n, "convert", "web", "--adopt")
	if want := "Service web is not adopted: it also selects other pods, such as canary-"; result.Err != nil || !strings.Contains(result.Stderr, want) {
		t.Errorf("%v, want %q\n%s", result.Err, want, result.Stderr)
	}
	n.AwaitReady("web")
	if service := n.GetService("web"); len(service.OwnerReferences) > 0 || service.Spec.Selector["shop"] != "front" {
		t.Errorf("the Service has become %v", service)
	}
}
