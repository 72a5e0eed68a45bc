// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// TestHelm is the life of a release of two boxes.
func TestHelm(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	const chart = "testdata/chart"
	boxes := []string{"web", "api"}

	n.helm("install", "shop", chart, "--wait")
	for _, box := range boxes {
		n.expectRolledOut(box, image, 1)
	}

	n.helm("upgrade", "shop", chart, "--wait", "--set=image="+newImage, "--set=replicas=2")
	for _, box := range boxes {
		n.expectRolledOut(box, newImage, 2)
	}
	n.expectRelease("2", "deployed")

	complaint := n.helmFails("upgrade", "shop", chart, "--wait", "--set=replicas=-1")
	if !strings.Contains(complaint, "spec.replicas: Invalid value: -1") {
		t.Errorf("helm does not say what the API refuses:\n%s", complaint)
	}
	n.expectRelease("3", "failed")
	for _, box := range boxes {
		n.expectRolledOut(box, newImage, 2)
	}

	n.helm("rollback", "shop", "1", "--wait")
	for _, box := range boxes {
		n.expectRolledOut(box, image, 1)
	}
	n.expectRelease("4", "deployed")
	expectEqual(t, "boxes that helm status shows", []string{"api", "web"}, n.boxesOfRelease())

	n.helm("uninstall", "shop", "--wait", "--cascade=foreground")
	for _, box := range boxes {
		expectNoBox(n, box)
	}
	if err := n.childrenAreGone(); err != nil {
		t.Errorf("helm did not wait for the children: %v", err)
	}
	expectEqual(t, "releases after the last", 0, len(n.releases()))
}

// TestHelmGivesUp is about a box whose pods never run. Without it, a helm that does not wait at all would do.
func TestHelmGivesUp(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	complaint := n.helmFails("install", "shop", "testdata/chart", "--wait", "--timeout=3s", "--set=disk=none")
	for _, words := range []string{"ModelBox", "web", "InProgress"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("helm does not say %q:\n%s", words, complaint)
		}
	}
	n.expectRelease("1", "failed")
}

// expectRolledOut fails the test unless the box is what it should be by now.
func (n *namespace) expectRolledOut(name, image string, replicas int32) {
	n.t.Helper()
	if err := hasCondition(n.box(name), modelv1.ConditionReady, metav1.ConditionTrue, ""); err != nil {
		n.t.Errorf("box %s is not Ready: %v", name, err)
	}
	deployment := n.deployment(name)
	if err := isComplete(deployment); err != nil {
		n.t.Errorf("Deployment %s: %v", name, err)
	}
	expectEqual(n.t, "image of "+name, image, deployment.Spec.Template.Spec.Containers[0].Image)
	expectEqual(n.t, "replicas of "+name, replicas, deployment.Status.AvailableReplicas)
}

// release is what "helm list" tells about one.
type release struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
	Status   string `json:"status"`
}

func (n *namespace) releases() []release {
	n.t.Helper()
	var releases []release
	if err := json.Unmarshal([]byte(n.helm("list", "--output=json")), &releases); err != nil {
		n.t.Fatal(err)
	}
	return releases
}

func (n *namespace) expectRelease(revision, status string) {
	n.t.Helper()
	expectEqual(n.t, "releases", []release{{"shop", revision, status}}, n.releases())
}

// boxesOfRelease returns the names of the boxes that "helm status" reads from the cluster.
func (n *namespace) boxesOfRelease() []string {
	n.t.Helper()
	var status struct {
		Info struct {
			Resources map[string][]modelv1.ModelBox `json:"resources"`
		} `json:"info"`
	}
	if err := json.Unmarshal([]byte(n.helm("status", "shop", "--output=json")), &status); err != nil {
		n.t.Fatal(err)
	}
	var names []string
	for _, box := range status.Info.Resources["v1/ModelBox"] {
		names = append(names, box.Name)
	}
	slices.Sort(names)
	return names
}

// helm runs helm in the namespace and returns what it prints. The test fails when the command does.
func (n *namespace) helm(arguments ...string) string {
	n.t.Helper()
	return n.client("helm", append(arguments, "--namespace="+n.name)...)
}

// helmFails runs helm in the namespace and returns what it complains of. The test fails when the command does not.
func (n *namespace) helmFails(arguments ...string) string {
	n.t.Helper()
	return n.clientFails("helm", append(arguments, "--namespace="+n.name)...)
}
