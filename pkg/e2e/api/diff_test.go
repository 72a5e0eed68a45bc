// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// linesOfDiff returns a line for each child in a diff, followed by a line for each of its fields.
func linesOfDiff(diff *modelv1.ModelBoxDiff) []string {
	var lines []string
	for _, child := range diff.Children {
		lines = append(lines, strings.TrimRight(strings.Join([]string{child.Kind, child.Name, string(child.Action), child.Effect, child.Message}, " "), " "))
		for _, field := range child.Fields {
			line := "  " + field.Path + ": " + field.Live + " -> " + field.Wanted + " by " + field.Manager
			if field.Ignored {
				line += ", ignored"
			}
			lines = append(lines, line)
		}
	}
	return lines
}

// TestDiff compares a paused box with its changed children, and a change of the box that is not stored. The effect of the change
// must match the diff.
func TestDiff(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithReplicas(2), func(spec *modelv1.ModelBoxSpec) {
		spec.Annotations = map[string]string{"example.com/team": "ours"}
		spec.IgnoreDrift = &modelv1.ModelBoxIgnoreDrift{Service: []string{"metadata.annotations[example.com/team]"}}
	}))
	expect := func(what string, diff *modelv1.ModelBoxDiff, err error, want ...string) {
		t.Helper()
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if diff := cmp.Diff(want, linesOfDiff(diff)); diff != "" {
			t.Errorf("%s, -want +got:\n%s", what, diff)
		}
	}
	diff, err := n.Boxes.GetDiff(n.Ctx, "web", metav1.GetOptions{})
	expect("a box that is ready", diff, err, "Deployment web None", "Service web None")

	n.UpdateBox("web", framework.Pause)
	n.AwaitBox("web", "is seen to be paused", func(box *modelv1.ModelBox) error {
		if box.Status.ObservedGeneration != box.Generation {
			return errors.New("it is not")
		}
		return nil
	})
	other := metav1.PatchOptions{FieldManager: framework.OtherManager}
	if _, err := n.ControlPlane.KubeClient.AppsV1().Deployments(n.Name).Patch(n.Ctx, "web", types.MergePatchType, []byte(`{"spec": {"minReadySeconds": 77}}`), other); err != nil {
		t.Fatal(err)
	}
	theirs := []byte(`{"metadata": {"annotations": {"example.com/team": "theirs"}}}`)
	service, err := n.Services.Patch(n.Ctx, "web", types.MergePatchType, theirs, other)
	if err != nil {
		t.Fatal(err)
	}
	ignored := `  metadata.annotations.example.com/team: "theirs" -> "ours" by ` + framework.OtherManager + ", ignored"
	drift := "  spec.minReadySeconds: 77 -> 1 by " + framework.OtherManager
	diff, err = n.Boxes.GetDiff(n.Ctx, "web", metav1.GetOptions{})
	expect("drift of a paused box", diff, err, "Deployment web Update", drift, "Service web None", ignored)
	if err == nil && !diff.Paused {
		t.Error("it does not say that the box is paused")
	}

	changed := n.GetBox("web")
	changed.Spec.Paused, changed.Spec.Image, changed.Spec.ServiceType = false, framework.NewImage, modelv1.ServiceTypeHeadless
	diff, err = n.Boxes.CreateDiff(n.Ctx, "web", changed, metav1.CreateOptions{})
	expect("a change that is not stored", diff, err,
		"Deployment web Update rolls 2 pods", drift,
		`  spec.template.spec.containers[name="web"].image: "`+framework.Image+`" -> "`+framework.NewImage+`" by modelbox-apiserver`,
		"Service web Replace replaces the Service it has a cluster IP and cannot become headless", strings.TrimSuffix(ignored, ", ignored"), // a new Service has what the box says
		`  spec.clusterIP: "`+service.Spec.ClusterIP+`" -> "None" by `)

	if _, err := n.Boxes.Update(n.Ctx, changed, metav1.UpdateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("web")
	framework.ExpectEqual(t, "minReadySeconds", int32(1), n.GetDeployment("web").Spec.MinReadySeconds)
	if now := n.GetService("web"); now.UID == service.UID {
		t.Error("the Service is the same one")
	}
	diff, err = n.Boxes.GetDiff(n.Ctx, "web", metav1.GetOptions{})
	expect("the box after the change", diff, err, "Deployment web None", "Service web None")

	changed = n.GetBox("web")
	changed.Spec.Image = ""
	if _, err := n.Boxes.CreateDiff(n.Ctx, "web", changed, metav1.CreateOptions{}); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "spec.image") {
		t.Errorf("an invalid box: %v", err)
	}
	diff, err = n.Boxes.CreateDiff(n.Ctx, "other", framework.NewBox("other"), metav1.CreateOptions{})
	expect("a box that there is not", diff, err, "Deployment other Create", "Service other Create")
}

// TestPermissionsForDiff checks that a user with only the permission for the subresource diff gets a diff without the objects that
// the user cannot get, and that a user with all other permissions on boxes gets none.
func TestPermissionsForDiff(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	only, allElse := n.SubresourceUsers("diff", "get,create")
	check := func(want ...string) {
		t.Helper()
		changed := framework.NewBox("web", framework.WithImage(framework.NewImage))
		diff, err := only.CreateDiff(n.Ctx, "web", changed, metav1.CreateOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, linesOfDiff(diff)); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	const unknownService = "Service web Unknown  not shown: you may not get services"
	check("Deployment web Unknown  not shown: you may not get deployments.apps", unknownService)
	n.Kubectl.Run("create", "role", "deployments", "--verb=get", "--resource=deployments.apps")
	n.Kubectl.Run("create", "rolebinding", "deployments", "--role=deployments", "--user=only-diff")
	n.Kubectl.AwaitAllowed("only-diff", "get deployments.apps")
	n.Eventually("the permission takes effect on the server", func() error {
		diff, err := only.GetDiff(n.Ctx, "web", metav1.GetOptions{})
		if err != nil {
			return err
		}
		if action := diff.Children[0].Action; action != modelv1.DiffActionNone {
			return errors.New(string(action))
		}
		return nil
	})
	check("Deployment web Update rolls 1 pod",
		`  spec.template.spec.containers[name="web"].image: "`+framework.Image+`" -> "`+framework.NewImage+`" by modelbox-apiserver`, unknownService)

	if _, err := only.Get(n.Ctx, "web", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has only it reads the box: %v", err)
	}
	if _, err := allElse.GetDiff(n.Ctx, "web", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has all else: %v", err)
	}
	if _, err := allElse.CreateDiff(n.Ctx, "web", framework.NewBox("web"), metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who has all else: %v", err)
	}
}
