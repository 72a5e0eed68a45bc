// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"errors"
	"fmt"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/e2e/framework"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// byDefault is the Ingress of a Service with only the required annotation.
const byDefault = "public web.NAMESPACE.example.com/ -> web:80"

// TestLife tests the lifecycle of the Ingress of a Service.
func TestLife(t *testing.T) {
	t.Parallel()
	plane := newControlPlane(t, "--component=pod-access", "--component=pod-debugger") // as "make run" has them
	for _, test := range []struct {
		name string
		run  func(n *framework.Namespace)
	}{
		{"a Service without the annotation has none", func(n *framework.Namespace) {
			create(n)
			expectNoIngress(n)
		}},
		{"an annotated Service has one, which is the Service's", func(n *framework.Namespace) {
			service := create(n, "ingress/http=true")
			ingress := awaitIngress(n, byDefault)
			if !metav1.IsControlledBy(ingress, service) || ingress.Labels[render.ManagedByLabel] != render.ManagedBy {
				n.T.Errorf("its metadata are %+v", ingress.ObjectMeta)
			}
			n.Events.AwaitAboutKind("Service", "web", "CreatedIngress", "Created Ingress web")
		}},
		{"so has the sample", func(n *framework.Namespace) {
			n.Kubectl.Run("apply", "--filename="+framework.Sample("serviceingress.yaml"))
			awaitIngressNamed(n, "modelbox-sample-public", "public web.example.com/shop -> modelbox-sample-public:80")
		}},
		{"a component is installed from the start", func(n *framework.Namespace) {
			n.Kubectl.Run("apply", "--filename="+framework.Sample("modelbox.yaml"), "--filename="+framework.Sample("poddebugger.yaml"))
			n.AwaitDebugged("poddebugger-sample", 3)
			n.AwaitReady("modelbox-sample")
		}},
		{"so has one that is annotated later", func(n *framework.Namespace) {
			create(n)
			annotate(n, "ingress/http=true")
			awaitIngress(n, byDefault)
		}},
		{"the other annotations refine it", func(n *framework.Namespace) {
			create(n, "ingress/http=true", "ingress/host=shop.example.com", "ingress/class=internal", "ingress/path=/api")
			awaitIngress(n, "internal shop.example.com/api -> web:80")
			annotate(n, "ingress/host=*.example.com", "ingress/class-", "ingress/path-")
			awaitIngress(n, "public *.example.com/ -> web:80")
		}},
		{"it follows the first port", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			n.Kubectl.Run("patch", "service", "web", "--type=json", `--patch=[{"op": "replace", "path": "/spec/ports/0/port", "value": 8080}]`)
			awaitIngress(n, "public web.NAMESPACE.example.com/ -> web:8080")
		}},
		{"it goes with the annotation", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			annotate(n, "ingress/http-")
			awaitNoIngress(n)
			n.Events.AwaitAboutKind("Service", "web", "PrunedIngress", "Deleted Ingress web")
		}},
		{"it goes when the annotation says no, and comes when it says yes again", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			annotate(n, "ingress/http=false")
			awaitNoIngress(n)
			annotate(n, "ingress/http=true")
			awaitIngress(n, byDefault)
		}},
		{"it goes with the Service", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			n.Kubectl.Run("delete", "service", "web", "--wait=false")
			awaitNoIngress(n)
		}},
		{"it goes before a Service that is deleted in the foreground", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			n.Kubectl.Run("delete", "service", "web", "--cascade=foreground")
			awaitNoIngress(n)
		}},
		{"it stays where its Service is deleted without dependents", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			n.Kubectl.Run("delete", "service", "web", "--cascade=orphan")
			if ingress := awaitIngress(n, byDefault); metav1.GetControllerOf(ingress) != nil {
				n.T.Errorf("it is controlled by %+v", metav1.GetControllerOf(ingress))
			}
		}},
		{"it comes back when a user deletes it", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			before := awaitIngress(n, byDefault)
			n.Kubectl.Run("delete", "ingress", "web")
			if after := awaitIngress(n, byDefault); after.UID == before.UID {
				n.T.Error("it was never gone")
			}
		}},
		{"it is restored when a user changes it, whose field manager an event names", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			n.Kubectl.Run("patch", "ingress", "web", "--field-manager=kubectl-edit", "--type=json",
				`--patch=[{"op": "replace", "path": "/spec/rules/0/host", "value": "evil.example.com"}]`)
			n.Events.AwaitAboutKind("Service", "web", "RestoredIngress", "kubectl-edit had changed")
			awaitIngress(n, byDefault)
		}},
		{"it gets back its owner and its label", func(n *framework.Namespace) {
			service := create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			n.Kubectl.Run("label", "ingress", "web", render.ManagedByLabel+"-")
			n.Kubectl.Run("patch", "ingress", "web", "--type=merge", `--patch={"metadata": {"ownerReferences": null}}`)
			n.Eventually("it is as before", func() error {
				ingress, err := getIngress(n)
				if err != nil {
					return err
				}
				if !metav1.IsControlledBy(ingress, service) || ingress.Labels[render.ManagedByLabel] != render.ManagedBy {
					return fmt.Errorf("its labels are %v and its owners %v", ingress.Labels, ingress.OwnerReferences)
				}
				return nil
			})
		}},
		{"what a user adds to it stays", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			awaitIngress(n, byDefault)
			n.Kubectl.Run("annotate", "ingress", "web", "example.com/rate-limit=10")
			annotate(n, "ingress/path=/api")
			ingress := awaitIngress(n, "public web.NAMESPACE.example.com/api -> web:80")
			framework.ExpectEqual(n.T, "the annotation", "10", ingress.Annotations["example.com/rate-limit"])
		}},
		{"a foreign one is left alone until it goes", func(n *framework.Namespace) {
			createForeign(n)
			create(n, "ingress/http=true")
			n.Events.AwaitAboutKind("Service", "web", modelv1.ReasonNotOwned, "an Ingress named web exists already and does not belong to this Service")
			awaitIngress(n, foreign)
			n.Kubectl.Run("delete", "ingress", "web")
			awaitIngress(n, byDefault)
		}},
		{"a foreign one stays when the annotation goes", func(n *framework.Namespace) {
			createForeign(n)
			create(n, "ingress/http=true")
			n.Events.AwaitAboutKind("Service", "web", modelv1.ReasonNotOwned, "an Ingress named web exists already")
			annotate(n, "ingress/http-")
			n.Kubectl.Run("delete", "service", "web")
			awaitIngress(n, foreign)
		}},
		{"a foreign one is adopted where that Ingress consents, and not where the Service asks for it", func(n *framework.Namespace) {
			createForeign(n)
			create(n, "ingress/http=true", modelv1.AdoptAnnotation+"=true")
			n.Events.AwaitAboutKind("Service", "web", modelv1.ReasonNotOwned, "annotate the Ingress with model.github.com/adopt=true")
			awaitIngress(n, foreign)
			n.Kubectl.Run("annotate", "ingress", "web", modelv1.AdoptAnnotation+"=true")
			ingress := awaitIngress(n, byDefault)
			n.Events.AwaitAboutKind("Service", "web", "AdoptedIngress", "Took over Ingress web")
			framework.ExpectEqual(n.T, "the consent", "", ingress.Annotations[modelv1.AdoptAnnotation])
		}},
		{"an annotation that says neither makes none", func(n *framework.Namespace) {
			create(n, "ingress/http=yes")
			n.Events.AwaitAboutKind("Service", "web", modelv1.ReasonInvalid, `metadata.annotations[ingress/http]`, `"yes"`, `"true", "false"`)
			expectNoIngress(n)
		}},
		{"what the API would refuse makes none, and an event says what would be right", func(n *framework.Namespace) {
			create(n, "ingress/http=true", "ingress/host=Shop_1", "ingress/class=Nginx", "ingress/path=api")
			n.Events.AwaitAboutKind("Service", "web", modelv1.ReasonInvalid, "metadata.annotations[ingress/host]", "e.g. 'example.com'",
				"metadata.annotations[ingress/class]", "metadata.annotations[ingress/path]", "must be an absolute path")
			expectNoIngress(n)
			annotate(n, "ingress/host=shop.example.com", "ingress/class=nginx", "ingress/path=/api")
			awaitIngress(n, "nginx shop.example.com/api -> web:80")
		}},
		{"an invalid annotation leaves what serves", func(n *framework.Namespace) {
			create(n, "ingress/http=true")
			before := awaitIngress(n, byDefault)
			annotate(n, "ingress/host=192.0.2.1")
			n.Events.AwaitAboutKind("Service", "web", modelv1.ReasonInvalid, "metadata.annotations[ingress/host]", "must be a DNS name, not an IP address")
			framework.ExpectEqual(n.T, "resourceVersion", before.ResourceVersion, awaitIngress(n, byDefault).ResourceVersion)
		}},
		{"the Service of a box has one too", func(n *framework.Namespace) {
			n.CreateReadyBox(framework.NewBox("web", asksForIngress))
			awaitIngress(n, byDefault)
			n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Service = nil })
			awaitNoIngress(n)
		}},
		{"the Ingress of a box wins", func(n *framework.Namespace) {
			n.CreateReadyBox(framework.NewBox("web", asksForIngress))
			service := n.GetService("web")
			awaitIngress(n, byDefault)
			n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) {
				spec.Ingress = &modelv1.ModelBoxIngress{Hosts: []string{"box.example.com"}}
			})
			n.Events.AwaitAboutKind("Service", "web", modelv1.ReasonNotOwned, "box web has an Ingress of this name by its spec.ingress")
			n.Eventually("there is no Ingress of the Service", func() error {
				ingress, err := getIngress(n)
				if err == nil && metav1.IsControlledBy(ingress, service) {
					return errors.New(describe(ingress))
				}
				if apierrors.IsNotFound(err) {
					return nil
				}
				return err
			})
			n.UpdateBox("web", func(spec *modelv1.ModelBoxSpec) { spec.Ingress = nil })
			awaitIngress(n, byDefault)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			test.run(plane.NewNamespace(t))
		})
	}
}

// asksForIngress annotates the Service of a box.
func asksForIngress(spec *modelv1.ModelBoxSpec) {
	spec.Ports = []corev1.ServicePort{{Port: 80}}
	spec.Service = &modelv1.ModelBoxService{Annotations: map[string]string{"ingress/http": "true"}}
}
