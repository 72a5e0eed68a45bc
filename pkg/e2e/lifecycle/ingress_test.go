// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
)

// hasHosts returns a check that the Ingress has rules for these hosts in this order.
func hasHosts(hosts ...string) func(*networkingv1.Ingress) error {
	return func(ingress *networkingv1.Ingress) error {
		var got []string
		for _, rule := range ingress.Spec.Rules {
			got = append(got, rule.Host)
		}
		if !slices.Equal(got, hosts) {
			return fmt.Errorf("it has the hosts %q", got)
		}
		return nil
	}
}

func awaitNoIngress(n *framework.Namespace, name string) {
	n.T.Helper()
	n.Eventually("Ingress "+name+" is gone", func() error {
		if _, err := n.Ingresses().Get(n.Ctx, name, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return fmt.Errorf("got %v", err)
		}
		return nil
	})
}

// TestIngressFollowsItsBox changes the Ingress of a box in every way.
func TestIngressFollowsItsBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.CreateReadyBox(framework.NewBox("web", framework.WithIngress("none-such", "web.example.com")))
	n.AwaitIngress("web", "has its host", hasHosts("web.example.com"))
	if table := n.Kubectl.Run("get", "mb", "web", "--output=wide"); !strings.Contains(table, "HOSTS") || !strings.Contains(table, "web.example.com") {
		t.Errorf("the table has no hosts:\n%s", table)
	}
	n.ExpectConverged("web")

	n.UpdateBox("web", framework.WithIngress("none-such", "a.example.com", "b.example.com"))
	n.AwaitIngress("web", "follows the box", hasHosts("a.example.com", "b.example.com"))

	n.Kubectl.Run("patch", "ingress", "web", "--type=json", "--field-manager=kubectl-edit",
		`--patch=[{"op": "replace", "path": "/spec/rules/0/host", "value": "stolen.example.com"}]`)
	n.AwaitIngress("web", "is restored", hasHosts("a.example.com", "b.example.com"))
	n.Events.Await("web", "RestoredIngress", "kubectl-edit")
	n.Kubectl.Run("annotate", "ingress", "web", "example.com/of=others")
	n.Kubectl.Run("delete", "ingress", "web")
	n.AwaitIngress("web", "is back", hasHosts("a.example.com", "b.example.com"))
	n.AwaitApplied("web")

	n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Ingress = nil })
	awaitNoIngress(n, "web")
	n.AwaitReady("web")
}

// TestIngressOfOthersIsLeftAlone checks a box whose Ingress cannot be created while another Ingress has its name.
func TestIngressOfOthersIsLeftAlone(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	n.Kubectl.Run("create", "ingress", "web", "--rule=foreign.example.com/*=foreign:80")
	n.CreateBox(framework.NewBox("web", framework.WithIngress("", "web.example.com")))
	n.AwaitNotOwned("web")
	n.AwaitIngress("web", "is as it was", hasHosts("foreign.example.com"))
	n.Kubectl.Run("delete", "ingress", "web")
	n.AwaitIngress("web", "is the box's", hasHosts("web.example.com"))
	n.AwaitReady("web")
}

// TestReadyWaitsForAnAddressWhereTheClassGivesOne also checks that a box does not wait for an address if the class has no
// controller.
func TestReadyWaitsForAnAddressWhereTheClassGivesOne(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	class := n.Name + "-class"
	n.CreateReadyBox(framework.NewBox("first", framework.WithIngress(class, "first.example.com")))
	n.AwaitReadyCondition("first", metav1.ConditionTrue, modelv1.ReasonReady, fmt.Sprintf("there is no IngressClass %q", class))

	classes := n.ControlPlane.KubeClient.NetworkingV1().IngressClasses()
	if _, err := classes.Create(n.Ctx, &networkingv1.IngressClass{
		ObjectMeta: metav1.ObjectMeta{Name: class}, Spec: networkingv1.IngressClassSpec{Controller: "example.com/test"},
	}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	n.Kubectl.RunAtEnd("delete", "ingressclass", class)
	n.AwaitBox("first", "no longer mentions its class", func(box *modelv1.ModelBox) error {
		if text := fmt.Sprint(box.Status.Conditions); strings.Contains(text, "IngressClass") {
			return fmt.Errorf("it has %s", text)
		}
		return nil
	})
	n.GiveAddress("first", "192.0.2.1")
	n.AwaitBox("first", "has the address", func(box *modelv1.ModelBox) error {
		if !slices.Equal(box.Status.IngressAddresses, []string{"192.0.2.1"}) {
			return fmt.Errorf("it has %q", box.Status.IngressAddresses)
		}
		return nil
	})

	n.CreateBox(framework.NewBox("second", framework.WithIngress(class, "second.example.com")))
	n.AwaitReadyCondition("second", metav1.ConditionFalse, modelv1.ReasonIngressAddressPending, class)
	n.GiveAddress("second", "192.0.2.1")
	n.AwaitReady("second")
	n.ExpectConverged("second")
}

// TestWarningAboutTheHostOfAnotherBox checks the warning for the second box with a host.
func TestWarningAboutTheHostOfAnotherBox(t *testing.T) {
	t.Parallel()
	n := framework.NewNamespace(t)
	host := n.Name + ".example.com"
	n.CreateBox(framework.NewBox("web", framework.WithIngress("", host)))
	result := framework.RunKubectl(n.Kubectl.Command("apply", "--dry-run=server", "--filename=-"), fmt.Sprintf(
		`{"apiVersion": "model.github.com/v1", "kind": "ModelBox", "metadata": {"name": "other"},
		"spec": {"image": "nginx:1.7.9", "ports": [{"port": 80}], "ingress": {"hosts": [%q]}}}`, host))
	want := "spec.ingress.hosts[0]: " + warn.AlreadyRequested("host "+host+" with path /", "ModelBox web in namespace "+n.Name)
	if !strings.Contains(result.Stderr, want) {
		t.Errorf("got %q, want %q", result.Stderr, want)
	}
}
