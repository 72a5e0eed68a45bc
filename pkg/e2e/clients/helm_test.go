// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestHelmInstallsUpgradesAndRollsBack tests a Helm release of two boxes.
func TestHelmInstallsUpgradesAndRollsBack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	const chart = "testdata/chart"
	boxes := []string{"web", "api"}

	runHelm(n, "install", "shop", chart, "--wait")
	for _, box := range boxes {
		expectRolledOut(n, box, framework.Image, 1)
	}

	runHelm(n, "upgrade", "shop", chart, "--wait", "--set=image="+framework.NewImage, "--set=replicas=2")
	for _, box := range boxes {
		expectRolledOut(n, box, framework.NewImage, 2)
	}
	expectRelease(n, "2", "deployed")

	complaint := runFailingHelm(n, "upgrade", "shop", chart, "--wait", "--set=replicas=-1")
	if !strings.Contains(complaint, "spec.replicas: Invalid value: -1") {
		t.Errorf("helm does not say what the API refuses:\n%s", complaint)
	}
	expectRelease(n, "3", "failed")
	for _, box := range boxes {
		expectRolledOut(n, box, framework.NewImage, 2)
	}

	runHelm(n, "rollback", "shop", "1", "--wait")
	for _, box := range boxes {
		expectRolledOut(n, box, framework.Image, 1)
	}
	expectRelease(n, "4", "deployed")
	framework.ExpectEqual(t, "boxes that helm status shows", []string{"api", "web"}, boxesOfRelease(n))

	runHelm(n, "uninstall", "shop", "--wait", "--cascade=foreground")
	for _, box := range boxes {
		n.ExpectNoBox(box)
	}
	if err := n.CheckChildrenGone(); err != nil {
		t.Errorf("helm did not wait for the children: %v", err)
	}
	framework.ExpectEqual(t, "releases after the last", 0, len(helmReleases(n)))
}

// TestHelmWaitTimesOutWhenNoPodRuns installs a box whose pods never run. It shows that helm waits at all.
func TestHelmWaitTimesOutWhenNoPodRuns(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	complaint := runFailingHelm(n, "install", "shop", "testdata/chart", "--wait", "--timeout=15s", "--set=disk=none")
	for _, words := range []string{"ModelBox", "web", "InProgress"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("helm does not say %q:\n%s", words, complaint)
		}
	}
	expectRelease(n, "1", "failed")
}

// expectRolledOut fails the test unless the rollout of the box is complete.
func expectRolledOut(n *framework.Namespace, name, image string, replicas int32) {
	n.T.Helper()
	if err := framework.CheckCondition(n.GetBox(name), modelv1.ConditionReady, metav1.ConditionTrue, ""); err != nil {
		n.T.Errorf("box %s is not Ready: %v", name, err)
	}
	deployment := n.GetDeployment(name)
	if err := framework.CheckRolledOut(deployment); err != nil {
		n.T.Errorf("Deployment %s: %v", name, err)
	}
	framework.ExpectEqual(n.T, "image of "+name, image, deployment.Spec.Template.Spec.Containers[0].Image)
	framework.ExpectEqual(n.T, "replicas of "+name, replicas, deployment.Status.AvailableReplicas)
}

// release is a Helm release in the output of "helm list".
type release struct {
	Name     string `json:"name"`
	Revision string `json:"revision"`
	Status   string `json:"status"`
}

func helmReleases(n *framework.Namespace) []release {
	n.T.Helper()
	var releases []release
	if err := json.Unmarshal([]byte(runHelm(n, "list", "--output=json")), &releases); err != nil {
		n.T.Fatal(err)
	}
	return releases
}

func expectRelease(n *framework.Namespace, revision, status string) {
	n.T.Helper()
	framework.ExpectEqual(n.T, "releases", []release{{"shop", revision, status}}, helmReleases(n))
}

// boxesOfRelease returns the names of the boxes that "helm status" reads from the cluster.
func boxesOfRelease(n *framework.Namespace) []string {
	n.T.Helper()
	var status struct {
		Info struct {
			Resources map[string][]modelv1.ModelBox `json:"resources"`
		} `json:"info"`
	}
	if err := json.Unmarshal([]byte(runHelm(n, "status", "shop", "--output=json")), &status); err != nil {
		n.T.Fatal(err)
	}
	var names []string
	for _, box := range status.Info.Resources["v1/ModelBox"] {
		names = append(names, box.Name)
	}
	slices.Sort(names)
	return names
}

// runHelm runs helm in the namespace and returns its output. It fails the test if the command fails.
func runHelm(n *framework.Namespace, arguments ...string) string {
	n.T.Helper()
	return runProgram(n, "helm", append(arguments, "--namespace="+n.Name)...)
}

// runFailingHelm runs helm in the namespace and returns its error output. It fails the test if the command succeeds.
func runFailingHelm(n *framework.Namespace, arguments ...string) string {
	n.T.Helper()
	return runFailingProgram(n, "helm", append(arguments, "--namespace="+n.Name)...)
}
