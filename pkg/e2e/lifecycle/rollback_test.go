// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	modelclient "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/typed/model/v1"
)

// TestHistoryAndRollback changes boxes of each kind of workload, and rolls them back as a user with only these permissions.
func TestHistoryAndRollback(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	reader, allButHistory := n.SubresourceUsers("history", "get")
	only, allElse := n.SubresourceUsers("rollback", "create")
	for _, workload := range framework.Workloads {
		name := strings.ToLower(string(workload))
		t.Run(name, func(t *testing.T) {
			n := n.In(t)
			n.CreateReadyBox(framework.NewBox(name, framework.WithWorkload(workload)))
			patch := fmt.Sprintf(`{"metadata": {"annotations": {%q: "a newer one"}}, "spec": {"image": %q}}`, modelv1.ChangeCauseAnnotation, framework.NewImage)
			if _, err := n.Boxes.Patch(n.Ctx, name, types.MergePatchType, []byte(patch), metav1.PatchOptions{}); err != nil {
				t.Fatal(err)
			}
			n.AwaitReady(name)
			awaitHistory(n, reader, name, []string{
				"1 [" + framework.Image + "] [] " + framework.Administrator + "  ",
				"2 [" + framework.NewImage + "] [{spec.image \"" + framework.Image + "\" \"" + framework.NewImage + "\"}] " + framework.Administrator + " a newer one ",
			})

			dryRun, err := only.CreateRollback(n.Ctx, name, &modelv1.ModelBoxRollback{}, metav1.CreateOptions{DryRun: []string{metav1.DryRunAll}})
			if err != nil || dryRun.Status.Revision != 1 {
				t.Errorf("a dry run: %v, %v", dryRun, err)
			}
			framework.ExpectEqual(t, "image after a dry run", framework.NewImage, n.GetBox(name).Spec.Image)
			rollback, err := only.CreateRollback(n.Ctx, name, &modelv1.ModelBoxRollback{}, metav1.CreateOptions{})
			if err != nil {
				t.Fatal(err)
			}
			box := n.AwaitReady(name)
			framework.ExpectEqual(t, "image", framework.Image, box.Spec.Image)
			framework.ExpectEqual(t, "change cause", "", box.Annotations[modelv1.ChangeCauseAnnotation])
			framework.ExpectEqual(t, "answer", modelv1.ModelBoxRollbackStatus{Revision: 1, Generation: box.Generation}, rollback.Status)
			// The former ControllerRevision is the newest one again, without a change.
			author := framework.Administrator
			if workload == modelv1.WorkloadDeployment {
				author = "only-rollback"
			}
			awaitHistory(n, reader, name, []string{
				"2 [" + framework.NewImage + "] [] " + framework.Administrator + " a newer one ",
				"3 [" + framework.Image + "] [{spec.image \"" + framework.NewImage + "\" \"" + framework.Image + "\"}] " + author + "  ",
			})
			if _, err := only.CreateRollback(n.Ctx, name, &modelv1.ModelBoxRollback{ToRevision: 3}, metav1.CreateOptions{}); !apierrors.IsConflict(err) {
				t.Errorf("to the present revision: %v", err)
			}
		})
	}
	const name = "deployment"
	n.Eventually("an event says who has rolled it back", func() error {
		run := framework.RunKubectl(n.Kubectl.Command("events", "--for=modelbox/"+name), "")
		if want := `User "only-rollback" rolled the box back to revision 1`; !strings.Contains(run.Stdout, want) {
			return fmt.Errorf("the events are\n%s", run.Stdout)
		}
		return nil
	})
	if _, err := reader.Get(n.Ctx, name, metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who may only read the history reads the box: %v", err)
	}
	if _, err := allButHistory.GetHistory(n.Ctx, name, metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who may do all but that reads the history: %v", err)
	}
	if _, err := only.Get(n.Ctx, name, metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who may only roll back reads the box: %v", err)
	}
	if _, err := allElse.CreateRollback(n.Ctx, name, &modelv1.ModelBoxRollback{}, metav1.CreateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("who may do all but that rolls back: %v", err)
	}
}

// awaitHistory waits for revisions, each with its number, images, changes, author, cause, and the reason why its box is unknown.
func awaitHistory(n *framework.Namespace, as modelclient.ModelBoxInterface, name string, want []string) {
	n.T.Helper()
	n.Eventually("the history of "+name, func() error {
		history, err := as.GetHistory(n.Ctx, name, metav1.GetOptions{})
		if err != nil {
			return err
		}
		var got []string
		for _, r := range history.Revisions {
			got = append(got, fmt.Sprint(r.Revision, " ", r.Images, " ", r.Changes, " ", r.ChangedBy, " ", r.ChangeCause, " ", r.Unknown))
		}
		if diff := cmp.Diff(want, got); diff != "" {
			return fmt.Errorf("-want +got:\n%s", diff)
		}
		return nil
	})
}

// TestRollbackToWhatAnotherReleaseRendered changes the earlier revision to the pods that another release would render from the same
// box. A rollback restores the box, and this release renders it.
func TestRollbackToWhatAnotherReleaseRendered(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	rendered := n.GetDeployment("web").Spec.Template
	sets := func() map[int64]string {
		names := map[int64]string{}
		history, err := n.Boxes.GetHistory(n.Ctx, "web", metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, revision := range history.Revisions {
			names[revision.Revision] = revision.Name
		}
		return names
	}
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
	n.Kubectl.Run("patch", "replicaset", sets()[1], "--type=merge", `--patch={"metadata": {"annotations": {"`+modelv1.RenderHashAnnotation+`": "of-another-release"}}, `+
		`"spec": {"template": {"spec": {"dnsPolicy": "Default", "terminationGracePeriodSeconds": 77}}}}`)
	if _, err := n.Boxes.CreateRollback(n.Ctx, "web", &modelv1.ModelBoxRollback{ToRevision: 1}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.AwaitReady("web")
	framework.ExpectEqual(t, "pod template", rendered, n.GetDeployment("web").Spec.Template)
}
