// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ownership

import (
	"fmt"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// The number of restorations of a field before the controller delays the next one, and the minimum delays after that.
const (
	restoresBeforePause = 5
	pauseBetweenTries   = time.Minute
)

const (
	stubborn      = "stubborn-operator"
	stubbornImage = "nginx:stubborn"
)

// TestRepeatedConflictIsGivenUpAndReported repeatedly sets another image as another field manager, twice. The controller delays its
// restoration, the status names the manager, and the controller continues with the other fields. The conflict ends when the manager
// restores the image, or the box gets another one.
func TestRepeatedConflictIsGivenUpAndReported(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web"))
	began := time.Now()
	giveIn := insistOnImage(n, "web")
	awaitConflict(n, "web")
	n.Events.Await("web", "Conflict", stubborn, "image")

	// The reconcile that restores the Service also finds the other image again.
	serviceComesBack := func() {
		t.Helper()
		service := n.GetService("web")
		if err := n.Services.Delete(n.Ctx, "web", metav1.DeleteOptions{}); err != nil {
			t.Fatal(err)
		}
		n.AwaitService("web", "is back", func(now *corev1.Service) error { return isAnother(now, service) })
	}
	serviceComesBack()
	serviceComesBack()
	framework.ExpectEqual(t, "image during the conflict", stubbornImage, imageOf(n.GetDeployment("web")))

	giveIn()
	setImage(n, "web", framework.Image)
	n.AwaitApplied("web")
	n.AwaitReady("web")

	giveIn = insistOnImage(n, "web")
	awaitConflict(n, "web")
	giveIn()
	writes := map[string]int{}
	for _, write := range n.Audit.ClusterWrites() {
		if framework.IsAccepted(write) {
			writes[write.Verb+" "+write.ObjectRef.Resource]++
		}
	}
	tries := int(time.Since(began) / pauseBetweenTries)
	if got, most := writes["patch deployments"], 2+restoresBeforePause+tries; got > most {
		t.Errorf("the Deployment was written %d times, want at most %d: its creation, %d restores, %d more tries, and to own what was given back",
			got, most, restoresBeforePause, tries)
	}
	framework.ExpectEqual(t, "times that the Service was written", 3, writes["patch services"])

	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitReady("web")
	framework.ExpectEqual(t, "image after the box asks for another one", framework.NewImage, imageOf(n.GetDeployment("web")))
}

// insistOnImage changes the image of a Deployment now, and whenever the controller restores it, until the returned function is
// called.
func insistOnImage(n *framework.Namespace, deployment string) (giveIn func()) {
	n.T.Helper()
	watch, err := n.Deployments.Watch(n.Ctx, metav1.SingleObject(metav1.ObjectMeta{Name: deployment}))
	if err != nil {
		n.T.Fatal(err)
	}
	var insisting sync.WaitGroup
	insisting.Go(func() {
		for event := range watch.ResultChan() {
			if now, ok := event.Object.(*appsv1.Deployment); ok && imageOf(now) != stubbornImage {
				if err := tryToSetImage(n, deployment, stubbornImage); err != nil && n.Ctx.Err() == nil {
					n.T.Errorf("insisting on an image: %v", err)
				}
			}
		}
	})
	return func() {
		watch.Stop()
		insisting.Wait()
	}
}

func setImage(n *framework.Namespace, deployment, image string) {
	n.T.Helper()
	if err := tryToSetImage(n, deployment, image); err != nil {
		n.T.Fatal(err)
	}
}

func tryToSetImage(n *framework.Namespace, deployment, image string) error {
	patch := fmt.Sprintf(`[{"op": "replace", "path": "/spec/template/spec/containers/0/image", "value": %q}]`, image)
	_, err := n.Deployments.Patch(n.Ctx, deployment, types.JSONPatchType, []byte(patch), metav1.PatchOptions{FieldManager: stubborn})
	return err
}

func awaitConflict(n *framework.Namespace, box string) {
	n.T.Helper()
	n.AwaitBox(box, "says who insists on what", func(box *modelv1.ModelBox) error {
		if err := framework.CheckCondition(box, modelv1.ConditionApplied, metav1.ConditionFalse, modelv1.ReasonConflict); err != nil {
			return err
		}
		if applied := meta.FindStatusCondition(box.Status.Conditions, modelv1.ConditionApplied); !framework.ContainsAll(applied.Message, []string{"Deployment web", stubborn, "image"}) {
			return fmt.Errorf("its message is %q", applied.Message)
		}
		return framework.CheckCondition(box, modelv1.ConditionReady, metav1.ConditionFalse, modelv1.ReasonNotApplied)
	})
}

func imageOf(deployment *appsv1.Deployment) string {
	return deployment.Spec.Template.Spec.Containers[0].Image
}
