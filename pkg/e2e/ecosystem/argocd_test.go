// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// TestArgoCD syncs and compares boxes and stacks with Argo CD, which is started before the API of boxes is registered.
func TestArgoCD(t *testing.T) {
	n := framework.NewControlPlane(t).NewNamespace(t)
	register := unregister(n)
	argo := startArgoCD(n)
	if !t.Run("boxes of an API that is registered later", func(t *testing.T) { expectNoticed(argo, n.In(t), register) }) {
		t.FailNow()
	}
	for _, scenario := range []struct {
		name string
		run  func(*argoCD, *framework.Namespace)
	}{
		{"all samples", syncSamples},
		{"health", syncUnhealthyBoxes},
		{"the tree of an Application", showTree},
		{"boxes from before the Application", adoptBoxes},
		{"self-healing", healBoxes},
		{"subresources", keepChangesOfSubresources},
		{"autoscalers", keepAutoscaledReplicas},
		{"waves", syncWaves},
		{"pruning", pruneBoxes},
		{"tracking by label", trackByLabel},
		{"no server is available", loseServer},
	} {
		t.Run(scenario.name, func(t *testing.T) { scenario.run(argo, n.ControlPlane.NewNamespace(t)) })
	}
}

func boxManifest(name, spec string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelBox, metadata: {name: %s}, spec: {%s}}", name, spec)
}

func configMapManifest(value string) string {
	return fmt.Sprintf("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {key: %s}}", value)
}

const (
	webSpec     = "image: nginx:1.7.9, ports: [{port: 80}]"
	storageSpec = webSpec + ", storage: [{name: data, mountPath: /data, size: 1Gi}]"
)

// unregister removes the API of boxes from the cluster. The returned function registers it again.
func unregister(n *framework.Namespace) (register func(*framework.Namespace)) {
	n.T.Helper()
	const name = "v1.model.github.com"
	spec := administrate(n, "", "get", "apiservice", name, "--output=jsonpath={.spec}")
	administrate(n, "", "delete", "apiservice", name)
	return func(n *framework.Namespace) {
		n.T.Helper()
		administrate(n, fmt.Sprintf("{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: %s}, spec: %s}", name, spec),
			"create", "--filename=-")
		n.Eventually("the API is served", func() error {
			_, err := n.Boxes.List(n.Ctx, metav1.ListOptions{})
			return err
		})
	}
}

// expectNoticed registers the API of boxes while Argo CD is running.
func expectNoticed(argo *argoCD, n *framework.Namespace, register func(*framework.Namespace)) {
	early := argo.newApplication(n, applicationOptions{name: "early"}, map[string]string{
		"settings": configMapManifest("a"),
	})
	early.sync()
	early.awaitHealthy()
	register(n)
	later := argo.newApplication(n, applicationOptions{name: "later"}, map[string]string{"web": boxManifest("web", webSpec)})
	later.sync()
	later.awaitHealthy()
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	later.awaitResource("ModelBox", "web", "OutOfSync", "Healthy")
}

// syncSamples syncs the samples, with client-side and with server-side apply, and compares them in each way. Only if Argo CD itself
// predicts the result of server-side apply, it finds differences, because it does not know defaults in lists.
func syncSamples(argo *argoCD, n *framework.Namespace) {
	n.ServeNetworkAttachments()
	files := map[string]string{}
	for _, sample := range samples {
		files[sample] = readFile(n.T, framework.Sample(sample+".yaml"))
	}
	for _, test := range []struct {
		name        string
		syncOptions []string
		compare     map[string]func(*application)
	}{
		{
			name: "client-side apply",
			compare: map[string]func(*application){
				"ServerSideDiff=true":  (*application).expectNoDifferences,
				"ServerSideDiff=false": (*application).expectNoDifferences,
			},
		},
		{
			name:        "server-side apply",
			syncOptions: []string{"ServerSideApply=true"},
			compare: map[string]func(*application){
				"ServerSideDiff=true":  (*application).expectNoDifferences,
				"ServerSideDiff=false": (*application).expectDefaultsInLists,
			},
		},
	} {
		n.T.Run(test.name, func(t *testing.T) {
			n := n.ControlPlane.NewNamespace(t)
			for _, claim := range claims {
				n.CreateVolumeFor(claim)
			}
			a := argo.newApplication(n, applicationOptions{syncOptions: test.syncOptions}, files)
			a.sync()
			giveAddress(n)
			a.awaitHealthy()
			for options, expect := range test.compare {
				t.Run(options, func(t *testing.T) {
					a := a.in(n.In(t))
					a.compareWith(options)
					expect(a)
				})
			}
		})
	}
}

// syncUnhealthyBoxes syncs boxes in each state.
func syncUnhealthyBoxes(argo *argoCD, n *framework.Namespace) {
	foreign := framework.ForeignDeployment("taken")
	if _, err := n.Deployments.Create(n.Ctx, foreign, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	files := map[string]string{
		"ready":      boxManifest("ready", webSpec),
		"starting":   boxManifest("starting", webSpec+", podTemplate: {spec: {nodeSelector: {disk: none}}}"),
		"paused":     boxManifest("paused", webSpec),
		"unchanged":  boxManifest("unchanged", webSpec),
		"taken":      boxManifest("taken", webSpec),
		"ready-shop": stackManifest("ready-shop", webSpec),
		"slow-shop":  stackManifest("slow-shop", webSpec+", podTemplate: {spec: {nodeSelector: {disk: none}}}"),
	}
	a := argo.newApplication(n, applicationOptions{}, files)
	a.sync()
	for _, box := range []string{"paused", "unchanged"} {
		a.awaitResource("ModelBox", box, "Synced", "Healthy")
	}
	files["paused"] = boxManifest("paused", "image: nginx:1.8, ports: [{port: 80}], paused: true")
	files["unchanged"] = boxManifest("unchanged", webSpec+", paused: true")
	a.commit(files)
	a.sync()
	for _, want := range []struct{ kind, name, health string }{
		{"ModelBox", "ready", "Healthy"},
		{"ModelBox", "starting", "Progressing"},
		{"ModelBox", "paused", "Suspended"},
		{"ModelBox", "unchanged", "Healthy"},
		{"ModelBox", "taken", "Degraded"},
		{"ModelStack", "ready-shop", "Healthy"},
		{"ModelStack", "slow-shop", "Progressing"},
	} {
		n.T.Run(want.kind+" "+want.name+" is "+want.health, func(t *testing.T) {
			a.in(n.In(t)).awaitResource(want.kind, want.name, "Synced", want.health)
		})
	}
	a.await("is Degraded", func(status applicationStatus) error {
		if status.Health.Status != "Degraded" {
			return fmt.Errorf("it is %s", status.Health.Status)
		}
		return nil
	})
}

func stackManifest(name, spec string) string {
	return fmt.Sprintf("{apiVersion: model.github.com/v1, kind: ModelStack, metadata: {name: %s}, "+
		"spec: {components: [{name: api, box: {%s}}]}}", name, spec)
}

// showTree syncs a stack, and checks that its box, the children of the box, and their children are in the tree.
func showTree(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{}, map[string]string{"shop": stackManifest("shop", webSpec)})
	a.sync()
	a.awaitHealthy()
	want := []string{
		"ModelStack", "ModelBox of ModelStack", "Deployment of ModelBox", "Service of ModelBox", "ReplicaSet of Deployment", "Pod of ReplicaSet",
	}
	n.Eventually("all objects are in the tree", func() error {
		nodes, err := argo.readTree(a.name)
		if err != nil {
			return err
		}
		found := map[string]bool{}
		for _, node := range nodes {
			name := node.Kind
			for _, parent := range node.ParentRefs {
				name += " of " + parent.Kind
			}
			found[name] = true
		}
		for _, name := range want {
			if !found[name] {
				return fmt.Errorf("the tree has %q, but no %s", slices.Sorted(maps.Keys(found)), name)
			}
		}
		return nil
	})
}

// adoptBoxes syncs a box that a user has created with the same manifest.
func adoptBoxes(argo *argoCD, n *framework.Namespace) {
	manifest := boxManifest("web", webSpec)
	n.Kubectl.RunWithInput(manifest, "apply", "--filename=-")
	n.AwaitReady("web")
	pods, uid := n.PodUIDs("web"), n.GetBox("web").UID
	a := argo.newApplication(n, applicationOptions{}, map[string]string{"web": manifest})
	a.sync()
	a.awaitHealthy()
	if box := n.GetBox("web"); box.UID != uid || box.Annotations["argocd.argoproj.io/tracking-id"] == "" {
		n.T.Errorf("the box has the UID %s, before it was %s, and the annotations %v", box.UID, uid, box.Annotations)
	}
	if diff := cmp.Diff(pods, n.PodUIDs("web")); diff != "" {
		n.T.Errorf("pods before and after, -want +got:\n%s", diff)
	}
}

// healBoxes changes and deletes boxes of an Application that is synced automatically.
func healBoxes(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{automated: true}, map[string]string{"web": boxManifest("web", webSpec)})
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
	a := argo.newApplication(n, applicationOptions{automated: true}, map[string]string{"web": boxManifest("web", webSpec)})
	a.awaitHealthy()
	restart := &modelv1.ModelBoxRestart{ObjectMeta: metav1.ObjectMeta{Name: "web"}}
	if _, err := n.Boxes.CreateRestart(n.Ctx, "web", restart, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.Kubectl.Run("scale", "mb", "web", "--replicas=2")
	n.AwaitPods("web", 2)
	changed := n.GetBox("web")
	for _, options := range []string{"ServerSideDiff=true", "ServerSideDiff=false"} {
		a.compareWith(options)
		a.expectNoDifferences()
	}
	a.awaitHealthy()
	if diff := cmp.Diff(changed.Spec, n.GetBox("web").Spec); diff != "" {
		n.T.Errorf("spec before and after, -want +got:\n%s", diff)
	}
}

// keepAutoscaledReplicas changes the number of replicas in the same way as a HorizontalPodAutoscaler. The manifest has the number.
func keepAutoscaledReplicas(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{}, map[string]string{"web": boxManifest("web", webSpec+", replicas: 1")})
	a.sync()
	a.awaitHealthy()
	n.Kubectl.Run("patch", "mb", "web", "--subresource=scale", "--field-manager=kube-controller-manager", "--type=merge",
		`--patch={"spec": {"replicas": 2}}`)
	n.AwaitPods("web", 2)
	for _, options := range []string{"ServerSideDiff=true", "ServerSideDiff=false"} {
		a.compareWith(options)
		a.expectNoDifferences()
	}
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
		return strings.Replace(boxManifest(name, spec), "metadata: {", annotated, 1)
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

// pruneBoxes removes boxes from the repository, and then deletes the Application with its objects.
func pruneBoxes(argo *argoCD, n *framework.Namespace) {
	n.CreateVolumeFor("database-data")
	files := map[string]string{"web": boxManifest("web", webSpec), "database": boxManifest("database", storageSpec)}
	a := argo.newApplication(n, applicationOptions{automated: true}, files)
	a.awaitHealthy()
	claim := n.AwaitBoundClaim("database-data")
	delete(files, "database")
	a.commit(files)
	a.awaitHealthy()
	n.ExpectNoBox("database")
	n.Eventually("the children of the box are gone", func() error {
		_, err := n.Deployments.Get(n.Ctx, "database", metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	expectSameClaim(n, claim)

	a.patch(map[string]any{"metadata": map[string]any{"finalizers": []string{"resources-finalizer.argocd.argoproj.io"}}})
	if err := a.client().Delete(n.Ctx, a.name, metav1.DeleteOptions{}); err != nil {
		n.T.Fatal(err)
	}
	n.Eventually("the Application is gone", func() error {
		_, err := a.client().Get(n.Ctx, a.name, metav1.GetOptions{})
		return framework.CheckGone(err)
	})
	n.ExpectNoBox("web")
	expectSameClaim(n, claim)
}

// expectSameClaim checks that a claim exists and is not being deleted.
func expectSameClaim(n *framework.Namespace, want *corev1.PersistentVolumeClaim) {
	n.T.Helper()
	claim, err := n.Claims.Get(n.Ctx, want.Name, metav1.GetOptions{})
	switch {
	case err != nil:
		n.T.Error(err)
	case claim.UID != want.UID:
		n.T.Errorf("claim %s has the UID %s, before it was %s", want.Name, claim.UID, want.UID)
	case claim.DeletionTimestamp != nil:
		n.T.Errorf("claim %s is being deleted", want.Name)
	}
}

// trackByLabel does what docs/ecosystem.md warns of.
func trackByLabel(argo *argoCD, n *framework.Namespace) {
	trackBy(n, n.Ctx, `"label"`)
	n.T.Cleanup(func() { trackBy(n, context.WithoutCancel(n.Ctx), "null") })
	n.CreateVolumeFor("database-data")
	a := argo.newApplication(n, applicationOptions{name: "database"}, map[string]string{"database": boxManifest("database", storageSpec)})
	a.sync()
	n.AwaitReady("database")
	a.awaitResource("PersistentVolumeClaim", "database-data", "OutOfSync", "Healthy")
	a.sync()
	n.AwaitClaim("database-data", "is being deleted", func(claim *corev1.PersistentVolumeClaim) error {
		if claim.DeletionTimestamp == nil {
			return errors.New("it is not")
		}
		return nil
	})
}

// trackBy sets how Argo CD tracks objects.
func trackBy(n *framework.Namespace, ctx context.Context, method string) {
	n.T.Helper()
	patch := fmt.Sprintf(`{"data": {"application.resourceTrackingMethod": %s}}`, method)
	command := n.ControlPlane.KubectlCommand(ctx, "--namespace=argocd", "patch", "configmap", "argocd-cm", "--type=merge", "--patch="+patch)
	run := framework.RunKubectl(command, "")
	if run.Err != nil {
		n.T.Errorf("%v: %s", run.Err, run.Stderr)
	}
}

// loseServer compares Applications while no server is available, and starts the controller of Argo CD at that time.
func loseServer(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{automated: true}, map[string]string{"web": boxManifest("web", webSpec)})
	other := argo.newApplication(n, applicationOptions{name: "other", automated: true}, map[string]string{"settings": configMapManifest("a")})
	a.awaitHealthy()
	other.awaitHealthy()
	pods, uid := n.PodUIDs("web"), n.GetBox("web").UID
	port := n.ControlPlane.ReadAPIService(n.T).Spec.Service.Port
	lead := func(port int) {
		n.ControlPlane.PatchAPIService(n.T, fmt.Sprintf(`{"spec": {"service": {"port": %d}}}`, port))
	}
	lead(framework.FreePort(n.T))
	a.awaitComparison("Unknown")
	argo.controller.stop()
	argo.controller = argo.startController()
	other.commit(map[string]string{"settings": configMapManifest("b")})
	other.awaitHealthy()
	a.awaitComparison("Unknown")
	lead(port)
	a.awaitComparison("Synced")
	a.awaitHealthy()
	if box := n.GetBox("web"); box.UID != uid {
		n.T.Errorf("the box has the UID %s, before it was %s", box.UID, uid)
	}
	if diff := cmp.Diff(pods, n.PodUIDs("web")); diff != "" {
		n.T.Errorf("pods before and after, -want +got:\n%s", diff)
	}
}
