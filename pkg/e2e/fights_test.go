// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

// How often the controller takes a field back before it gives way, and how long it then waits at least before each
// further try.
const (
	restoresBeforePause = 5
	pauseBetweenTries   = time.Minute
)

const (
	stubborn      = "stubborn-operator"
	stubbornImage = "nginx:stubborn"
)

// TestFightIsGivenUp has somebody insist on another image, twice. The box gives way and says to whom, and the rest of it
// goes on. The fight is over as soon as they put the image back, or the box asks for another one.
func TestFightIsGivenUp(t *testing.T) {
	t.Parallel()
	n := newNamespace(t)
	n.createReady(newBox("web"))
	began := time.Now()
	giveIn := n.insistOnImage("web")
	n.awaitConflict("web")
	n.awaitEvent("web", "Conflict", stubborn, "image")

	// The Service is put back by a look at the box that finds the other image once more.
	serviceComesBack := func() {
		t.Helper()
		service := n.service("web")
		if err := n.services.Delete(n.ctx, "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		n.awaitService("web", "is back", func(now *corev1.Service) error { return isAnother(now, service) })
	}
	serviceComesBack()
	serviceComesBack()
	expectEqual(t, "image while the fight goes on", stubbornImage, imageOf(n.deployment("web")))

	giveIn()
	n.setImage("web", image)
	n.awaitApplied("web")
	n.awaitReady("web")

	giveIn = n.insistOnImage("web")
	n.awaitConflict("web")
	giveIn()
	writes := map[string]int{}
	for _, write := range n.clusterWrites() {
		if write.ResponseStatus.Code < http.StatusMultipleChoices { // what met a newer version was tried again
			writes[write.Verb+" "+write.ObjectRef.Resource]++
		}
	}
	tries := int(time.Since(began) / pauseBetweenTries)
	if got, most := writes["patch deployments"], 2+restoresBeforePause+tries; got > most {
		t.Errorf("the Deployment was written %d times, want at most %d: its creation, %d restores, %d more tries, and to own what was given back",
			got, most, restoresBeforePause, tries)
	}
	expectEqual(t, "times that the Service was written", 3, writes["patch services"])

	n.change("web", withImage(newImage))
	n.awaitReady("web")
	expectEqual(t, "image after the box asks for another one", newImage, imageOf(n.deployment("web")))
}

// insistOnImage changes the image of a Deployment now, and whenever it is put back, until the returned function is
// called.
func (n *namespace) insistOnImage(deployment string) (giveIn func()) {
	n.t.Helper()
	watch, err := n.deployments.Watch(n.ctx, metav1.SingleObject(metav1.ObjectMeta{Name: deployment}))
	if err != nil {
		n.t.Fatal(err)
	}
	var insisting sync.WaitGroup
	insisting.Go(func() {
		for event := range watch.ResultChan() {
			if now, ok := event.Object.(*appsv1.Deployment); ok && imageOf(now) != stubbornImage {
				if err := n.tryToSetImage(deployment, stubbornImage); err != nil && n.ctx.Err() == nil {
					n.t.Errorf("insisting on an image: %v", err)
				}
			}
		}
	})
	return func() {
		watch.Stop()
		insisting.Wait()
	}
}

func (n *namespace) setImage(deployment, image string) {
	n.t.Helper()
	if err := n.tryToSetImage(deployment, image); err != nil {
		n.t.Fatal(err)
	}
}

func (n *namespace) tryToSetImage(deployment, image string) error {
	patch := fmt.Sprintf(`[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": %q}]`, image)
	_, err := n.deployments.Patch(n.ctx, deployment, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: stubborn})
	return err
}

func (n *namespace) awaitConflict(box string) {
	n.t.Helper()
	n.awaitBox(box, "says who insists on what", func(box *modelv1.ModelBox) error {
		if err := hasCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonConflict); err != nil {
			return err
		}
		if applied := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionApplied); !containsAll(applied.Message, []string{"Deployment web", stubborn, "image"}) {
			return fmt.Errorf("its message is %q", applied.Message)
		}
		return hasCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonNotApplied)
	})
}

func imageOf(deployment *appsv1.Deployment) string {
	return deployment.Spec.Template.Spec.Containers[0].Image
}
