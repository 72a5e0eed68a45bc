// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package clients

import (
	"strings"
	"testing"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const stackChart = "testdata/stackchart"

// TestHelmInstallsUpgradesAndRollsBackStack tests a Helm release of a stack of two components.
func TestHelmInstallsUpgradesAndRollsBackStack(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	expect := func(image string, replicas int32) {
		t.Helper()
		expectRolledOut(n, "db", image, 1)
		expectRolledOut(n, "web", image, replicas)
	}
	runHelm(n, "install", "shop", stackChart, "--wait")
	expect(framework.Image, 1)

	runHelm(n, "upgrade", "shop", stackChart, "--wait", "--set=image="+framework.NewImage, "--set=replicas=2")
	expect(framework.NewImage, 2)

	complaint := runFailingHelm(n, "upgrade", "shop", stackChart, "--wait", "--set=replicas=-1")
	if !strings.Contains(complaint, "spec.components[1].box.replicas: Invalid value: -1") {
		t.Errorf("helm does not say what the API refuses:\n%s", complaint)
	}
	expect(framework.NewImage, 2)

	runHelm(n, "rollback", "shop", "1", "--wait")
	expect(framework.Image, 1)

	runHelm(n, "uninstall", "shop", "--wait", "--cascade=foreground")
	for _, box := range []string{"db", "web"} {
		n.ExpectNoBox(box)
	}
	if err := n.CheckChildrenGone(); err != nil {
		t.Errorf("helm did not wait for the children: %v", err)
	}
}

func TestHelmWaitTimesOutWhenAComponentDoesNotRun(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	complaint := runFailingHelm(n, "install", "shop", stackChart, "--wait", "--timeout=15s", "--set=disk=none")
	for _, words := range []string{"ModelStack", "shop", "InProgress"} {
		if !strings.Contains(complaint, words) {
			t.Errorf("helm does not say %q:\n%s", words, complaint)
		}
	}
	n.ExpectNoBox("web")
}
