// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

const (
	creates = "modelbox-apiserver creates only what a ModelBox, a ModelStack or a Network controls"
	changes = "modelbox-apiserver changes only what a ModelBox, a ModelStack or a Network controls or adopts"
	deletes = "modelbox-apiserver deletes only what a ModelBox, a ModelStack or a Network controls"
)

// TestServerWritesIngressesOfServicesOnlyWithTheComponent sends requests with the service account of the server in one namespace
// that its permissions allow and its admission policy denies, with and without the permission of the component.
func TestServerWritesIngressesOfServicesOnlyWithTheComponent(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	service := create(n)
	createForeign(n)
	controlled := fmt.Sprintf(`{apiVersion: v1, kind: Service, name: web, uid: %s, controller: true}`, service.UID)
	const ours = "app.kubernetes.io/managed-by: modelbox-apiserver"
	ingress := func(name, labels, owner string) string {
		return fmt.Sprintf(`{apiVersion: networking.k8s.io/v1, kind: Ingress, metadata: {name: %s, namespace: %s, labels: {%s}, ownerReferences: [%s]},
			spec: {defaultBackend: {service: {name: web, port: {number: 80}}}}}`, name, n.Name, labels, owner)
	}
	n.Kubectl.RunWithInput(ingress("ours", ours, controlled)+"\n---\n"+ingress("anothers", "", controlled), "create", "-f", "-")
	// The garbage collector deletes objects whose owner does not exist.
	owner, err := n.ConfigMaps.Create(n.Ctx, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "owner"}}, metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	ofConfigMap := fmt.Sprintf(`{apiVersion: v1, kind: ConfigMap, name: owner, uid: %s, controller: true}`, owner.UID)
	n.Kubectl.RunWithInput(ingress("consenting", "", "")+"\n---\n"+ingress("of-config-map", "", ofConfigMap), "create", "-f", "-")
	n.Kubectl.Run("annotate", "ingress", "consenting", "of-config-map", modelv1.AdoptAnnotation+"=true")
	grant := func(role, resource, verbs, permission string) {
		n.Kubectl.Run("create", "role", role, "--resource="+resource, "--verb="+verbs)
		n.Kubectl.Run("create", "rolebinding", role, "--role="+role, "--user="+framework.ServerUser)
		n.Kubectl.AwaitAllowed(framework.ServerUser, permission)
	}
	grant("ingresses", "ingresses.networking.k8s.io", "get,create,patch,delete", "delete ingresses.networking.k8s.io")

	try := func(t *testing.T, stdin, arguments, refusal string) {
		t.Helper()
		run := framework.RunKubectl(n.In(t).Kubectl.Command(append(strings.Split(arguments, " "), "--dry-run=server", "--as="+framework.ServerUser)...), stdin)
		switch {
		case refusal == "" && run.Err != nil:
			t.Errorf("it is refused: %s", run.Stderr)
		case refusal != "" && !strings.Contains(run.Stderr, refusal):
			t.Errorf("want %q, got %s %s", refusal, run.Stdout, run.Stderr)
		}
	}
	const (
		patchOwner = `{"metadata":{"labels":{"app.kubernetes.io/managed-by":"modelbox-apiserver"},"ownerReferences":[{"apiVersion":"v1","kind":"Service","name":"web","uid":"%s","controller":true}]}}`
		patchClass = `{"spec":{"ingressClassName":"evil"}}`
	)
	takeOver := fmt.Sprintf(patchOwner, service.UID)
	rows := []struct{ name, stdin, arguments, refusal string }{
		{"an Ingress of a Service", ingress("made", ours, controlled), "create -f -", ""},
		{"one that does not say that it is the server's", ingress("made", "", controlled), "create -f -", creates},
		{"one that a Service merely owns", ingress("made", ours, strings.Replace(controlled, "true", "false", 1)), "create -f -", creates},
		{"one without a controller", ingress("made", ours, ""), "create -f -", creates},
		{"a change of the server's", "", "patch ingress ours --type=merge -p " + patchClass, ""},
		{"a change of another's", "", "patch ingress anothers --type=merge -p " + patchClass, changes},
		{"a change of one without a controller", "", "patch ingress web --type=merge -p " + patchClass, changes},
		{"one without a controller into the server's", "", "patch ingress web --type=merge -p " + takeOver, changes},
		{"one without a controller that consents into the server's", "", "patch ingress consenting --type=merge -p " + takeOver, ""},
		{"another's that consents into the server's", "", "patch ingress of-config-map --type=merge -p " + takeOver, changes},
		{"the server's that goes", "", "delete ingress ours", ""},
		{"another's that goes", "", "delete ingress anothers", deletes},
		{"one without a controller that goes", "", "delete ingress web", deletes},
		{"a Service that a Service controls", strings.NewReplacer("networking.k8s.io/v1", "v1", "kind: Ingress", "kind: Service",
			"defaultBackend: {service: {name: web, port: {number: 80}}}", "ports: [{port: 80}]").Replace(ingress("made", ours, controlled)), "create -f -", creates},
	}
	for _, row := range rows {
		t.Run("without the component, "+row.name, func(t *testing.T) {
			refusal := map[string]string{"create": creates, "patch": changes, "delete": deletes}[strings.Split(row.arguments, " ")[0]]
			try(t, row.stdin, row.arguments, refusal)
		})
	}
	grant("finalizers", "services/finalizers", "update", "update services --subresource=finalizers")
	for _, row := range rows {
		t.Run("with the component, "+row.name, func(t *testing.T) { try(t, row.stdin, row.arguments, row.refusal) })
	}
}

// TestComponentTurnsTheControllerOn builds the manifests of a server with the component.
func TestComponentTurnsTheControllerOn(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	built := n.Kubectl.Run("kustomize", "testdata/install")
	for _, want := range []string{
		"- --controllers=*,serviceingress\n",
		"- --service-ingress-host-pattern={name}.{namespace}.example.com\n",
		"name: modelbox-apiserver:serviceingress\n",
		"- services/finalizers\n",
	} {
		if !strings.Contains(built, want) {
			t.Errorf("%q is missing in:\n%s", want, built)
		}
	}
}
