// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"errors"
	"fmt"
	"strings"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// adoptBoxes syncs a box that a user has created with the same manifest.
func adoptBoxes(argo *argoCD, n *framework.Namespace) {
	manifest := framework.BoxManifest("web", webSpec)
	n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
	n.AwaitReady("web")
	before := uidsOfBox(n)
	a := argo.newApplication(n, applicationOptions{}, map[string]string{"web": manifest})
	a.sync()
	a.awaitHealthy()
	if annotations := n.GetBox("web").Annotations; annotations["argocd.argoproj.io/tracking-id"] == "" {
		n.T.Errorf("the box has the annotations %v", annotations)
	}
	expectSameBox(n, before)
}

// boxUIDs has the UIDs of box "web" and of its pods.
type boxUIDs struct {
	Box  types.UID
	Pods map[string]types.UID
}

func uidsOfBox(n *framework.Namespace) boxUIDs {
	n.T.Helper()
	return boxUIDs{n.GetBox("web").UID, n.PodUIDs("web")}
}

// expectSameBox checks that neither the box nor one of its pods was replaced.
func expectSameBox(n *framework.Namespace, before boxUIDs) {
	n.T.Helper()
	if diff := cmp.Diff(before, uidsOfBox(n)); diff != "" {
		n.T.Errorf("UIDs before and after, -want +got:\n%s", diff)
	}
}

// healBoxes changes and deletes boxes of an Application that is synced automatically.
func healBoxes(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{automated: true}, map[string]string{"web": framework.BoxManifest("web", webSpec)})
	a.awaitHealthy()
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	n.AwaitBox("web", "has the image of its manifest again", func(box *modelv1.ModelBox) error {
		if box.Spec.Image != framework.Image {
			return fmt.Errorf("it has the image %s", box.Spec.Image)
		}
		return nil
	})
	a.awaitHealthy()
	uid := n.GetBox("web").UID
	if err := n.Boxes.Delete(n.Ctx, "web", metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.AwaitBox("web", "exists again", func(box *modelv1.ModelBox) error {
		if box.UID == uid {
			return errors.New("it is the former one")
		}
		return nil
	})
	a.awaitHealthy()
}

// keepChangesOfSubresources restarts and scales a box of an Application that is synced automatically. The manifest does not have the
// fields that this changes.
func keepChangesOfSubresources(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{automated: true}, map[string]string{"web": framework.BoxManifest("web", webSpec)})
	a.awaitHealthy()
	restart := &modelv1.ModelBoxRestart{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if _, err := n.Boxes.CreateRestart(n.Ctx, "web", restart, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.Kubectl.Run("scale", "mb", "web", "--replicas=2")
	n.AwaitPods("web", 2)
	changed := n.GetBox("web")
	a.expectNoDifferencesInAnyComparison()
	a.awaitHealthy()
	if diff := cmp.Diff(changed.Spec, n.GetBox("web").Spec); diff != "" {
		n.T.Errorf("spec before and after, -want +got:\n%s", diff)
	}
}

// keepAutoscaledReplicas changes the number of replicas in the same way as a HorizontalPodAutoscaler. The manifest has the number.
func keepAutoscaledReplicas(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{}, map[string]string{"web": framework.BoxManifest("web", webSpec+", replicas: 1")})
	a.sync()
	a.awaitHealthy()
	n.Kubectl.Run("patch", "mb", "web", "--subresource=scale", "--field-manager=kube-controller-manager", "--type=merge",
		`--patch={"spec": {"replicas": 2}}`)
	n.AwaitPods("web", 2)
	a.expectNoDifferencesInAnyComparison()
	for _, test := range []struct {
		syncOptions []string
		want        int32
	}{
		{[]string{"RespectIgnoreDifferences=true"}, 2},
		{nil, 1},
	} {
		a.options.syncOptions = test.syncOptions
		a.sync()
		framework.ExpectEqual(n.T, fmt.Sprintf("replicas after a sync with %v", test.syncOptions), &test.want, n.GetBox("web").Spec.Replicas)
	}
}

// syncWaves syncs a box that waits for its volume in one wave, and another box in the next.
func syncWaves(argo *argoCD, n *framework.Namespace) {
	wave := func(name, number, spec string) string {
		annotated := fmt.Sprintf("metadata: {annotations: {argocd.argoproj.io/sync-wave: %q}, ", number)
		return strings.Replace(framework.BoxManifest(name, spec), "metadata: {", annotated, 1)
	}
	a := argo.newApplication(n, applicationOptions{}, map[string]string{
		"database": wave("database", "0", storageSpec),
		"web":      wave("web", "1", webSpec),
	})
	a.startSync()
	a.await("waits for the box of the first wave", func(status applicationStatus) error {
		if message := status.OperationState.Message; !strings.Contains(message, "waiting for healthy state of model.github.com/ModelBox/database") {
			return fmt.Errorf("the message of the sync is %q", message)
		}
		return nil
	})
	n.ExpectNoBox("web")
	n.CreateVolumeFor("database-data")
	a.awaitSynced()
	a.awaitHealthy()
}
