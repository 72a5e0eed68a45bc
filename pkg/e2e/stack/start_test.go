// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package stack

import (
	"fmt"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

func TestNothingStartsBeforeWhatItDependsOnIsReady(t *testing.T) {
	t.Parallel()
	db := component("db")
	framework.Unschedulable(db.Box)
	s := createStack(t, component("web", "api"), component("api", "db", "mail"), db, component("job"), external("mail", "mail.example.com"))
	changes := s.watchBoxes(func(change watch.EventType, box *modelv1.ModelBox) string {
		switch {
		case change == watch.Added:
			return "created " + box.Name
		case isReady(box):
			return "ready " + box.Name
		default:
			return ""
		}
	})
	s.awaitState("api", modelv1.ComponentWaiting, "db")
	s.awaitState("web", modelv1.ComponentWaiting, "api")
	s.AwaitReady("job")
	s.AwaitReadyCondition("db", metav1.ConditionFalse, "Unschedulable")
	framework.ExpectEqual(t, "boxes beside a database that does not start", "[db job]", sprint(s.boxNames()))

	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[2].Box.PodTemplate = nil
		return components
	})
	s.awaitReady()
	// The watch of the test may be behind the stack.
	s.Eventually("the boxes start in order", func() error {
		changes.mu.Lock()
		defer changes.mu.Unlock()
		order := slices.DeleteFunc(slices.Clone(changes.changes), func(change string) bool {
			return change == "created job" || change == "ready job" || change == "created db"
		})
		if got, want := sprint(order), "[ready db created api ready api created web ready web]"; got != want {
			return fmt.Errorf("the order is %s, want %s", got, want)
		}
		return nil
	})
	framework.ExpectEqual(t, "what the Service outside leads to", "mail.example.com", s.GetService("mail").Spec.ExternalName)
}

func TestNameThatIsTakenIsLeftAlone(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	foreign := n.CreateReadyBox(framework.NewBox("db"))
	s := createStackIn(n, component("db"), component("web", "db"))
	s.awaitCondition(modelv1.ConditionStalled, metav1.ConditionTrue, modelv1.ReasonNotOwned)
	s.awaitState("web", modelv1.ComponentWaiting, "db")
	now := s.GetBox("db")
	framework.ExpectEqual(t, "owners of the box without a stack", 0, len(now.OwnerReferences))
	framework.ExpectEqual(t, "its generation", foreign.Generation, now.Generation)

	s.Kubectl.Run("annotate", "mst", "shop", modelv1.AdoptAnnotation+"=true")
	s.awaitReady()
	framework.ExpectEqual(t, "UID of the box that was adopted", foreign.UID, s.GetBox("db").UID)
}

func TestStackThatIsReadyIsSilent(t *testing.T) {
	t.Parallel()
	s := createStack(t, component("web", "db", "search"), component("db"), external("search", "192.0.2.1"))
	s.awaitReady()
	before := s.versions()
	s.Kubectl.Run("label", "mst", "shop", "example.com/team=ours")
	// The server has observed this change of the stack after it has reconciled a later one.
	later := createStackNamed(s.Namespace, "later", component("later"))
	later.awaitReady()
	framework.ExpectEqual(t, "versions of the children", before, s.versions())
}

// versions returns the resource versions of the children of the stack.
func (s *testStack) versions() string {
	return s.Kubectl.Run("get", "mb,services,endpointslices", "-l", modelv1.StackLabel+"=shop", "-o", "jsonpath={.items[*].metadata.resourceVersion}")
}

// A Job is a dependency without ports: what depends on it starts, and is updated, when the Job has succeeded.
func TestDependantsOfAJobWaitUntilItHasSucceeded(t *testing.T) {
	t.Parallel()
	job := func(image string) modelv1.ModelStackComponent {
		migrate := component("migrate", "db")
		migrate.Box.Image, migrate.Box.Workload, migrate.Box.Ports, migrate.Box.MinReadySeconds = image, modelv1.WorkloadJob, nil, nil
		return migrate
	}
	s := createStack(t, component("web", "migrate"), job(framework.Image), component("db"))
	changes := s.watchBoxes(func(_ watch.EventType, box *modelv1.ModelBox) string {
		if !isReady(box) {
			return ""
		}
		return fmt.Sprintf("%s %s", box.Name, box.Spec.Image)
	})
	s.awaitReady()
	first, err := s.ControlPlane.KubeClient.BatchV1().Jobs(s.Name).Get(s.Ctx, "migrate", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	framework.ExpectEqual(t, "variable of the Job", "DB_HOST", first.Spec.Template.Spec.Containers[0].Env[0].Name)
	s.update(func(components []modelv1.ModelStackComponent) []modelv1.ModelStackComponent {
		components[0].Box.Image, components[1].Box.Image = framework.NewImage, framework.NewImage
		return components
	})
	s.awaitReady()
	s.Eventually("the Job runs before what depends on it is updated", func() error {
		changes.mu.Lock()
		defer changes.mu.Unlock()
		migrated, updated := slices.Index(changes.changes, "migrate "+framework.NewImage), slices.Index(changes.changes, "web "+framework.NewImage)
		if migrated < 0 || updated < migrated {
			return fmt.Errorf("boxes are ready in the order %q", changes.changes)
		}
		return nil
	})
	if _, err := s.stacks.CreateRestart(s.Ctx, s.stack, &modelv1.ModelBoxRestart{}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	s.awaitReady()
	second, err := s.ControlPlane.KubeClient.BatchV1().Jobs(s.Name).Get(s.Ctx, "migrate", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if _, isRestarted := second.Spec.Template.Annotations[modelv1.RestartedAtAnnotation]; isRestarted {
		t.Error("the restart of the stack has run the Job again")
	}
}
