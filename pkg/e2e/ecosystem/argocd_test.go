// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package ecosystem

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

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
	later := argo.newApplication(n, applicationOptions{name: "later"}, map[string]string{"web": framework.BoxManifest("web", webSpec)})
	later.sync()
	later.awaitHealthy()
	n.UpdateBox("web", framework.WithImage(framework.NewImage))
	later.awaitResource("ModelBox", "web", "OutOfSync", "Healthy")
}

// loseServer compares Applications while no server is available, and starts the controller of Argo CD at that time.
func loseServer(argo *argoCD, n *framework.Namespace) {
	a := argo.newApplication(n, applicationOptions{automated: true}, map[string]string{"web": framework.BoxManifest("web", webSpec)})
	other := argo.newApplication(n, applicationOptions{name: "other", automated: true}, map[string]string{"settings": configMapManifest("a")})
	a.awaitHealthy()
	other.awaitHealthy()
	before := uidsOfBox(n)
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
	expectSameBox(n, before)
}
