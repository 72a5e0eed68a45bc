// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

const (
	created = "Normal CreatedIngress Created Ingress web"
	updated = "Normal UpdatedIngress Updated Ingress web"
	pruned  = "Normal PrunedIngress Deleted Ingress web, which the Service no longer specifies"
	taken   = "Warning NotOwned an Ingress named web exists already and does not belong to this Service: " +
		"delete it, give the Service another name, or annotate the Ingress with model.github.com/adopt=true to let the Service take it over"
	adopted      = "Normal AdoptedIngress Took over Ingress web, which had no controller"
	ofBoxInstead = "Warning NotOwned box web has an Ingress of this name by its spec.ingress, and annotation ingress/http does nothing"
)

func TestLife(t *testing.T) {
	for _, row := range []struct {
		name     string
		defaults serviceingressrender.Defaults
		test     func(f *testController)
	}{
		{name: "a Service without the annotation has no Ingress", test: func(f *testController) {
			f.createService()
			f.expect("")
		}},
		{name: "an annotated Service has one", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.expect("/ -> web:80", created)
			if !f.ours() {
				f.t.Error("it does not say whose it is")
			}
		}},
		{name: "so has one that is annotated later", test: func(f *testController) {
			f.createService()
			f.annotateService("ingress/http=true")
			f.expect("/ -> web:80", created)
		}},
		{name: "it says what the annotations say", test: func(f *testController) {
			f.createService("ingress/http=true", "ingress/host=shop.example.com", "ingress/class=internal", "ingress/path=/api")
			f.expect("internal shop.example.com/api -> web:80", created)
		}},
		{name: "it says what the flags say", defaults: serviceingressrender.Defaults{Class: "public", HostPattern: "{name}.{namespace}.example.com"}, test: func(f *testController) {
			f.createService("ingress/http=true")
			f.expect("public web.shop.example.com/ -> web:80", created)
		}},
		{name: "it follows the annotations", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.annotateService("ingress/host=shop.example.com")
			f.expect("shop.example.com/ -> web:80", created, updated)
		}},
		{name: "it follows the port", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.changeService(func(service *corev1.Service) { service.Spec.Ports[0].Port = 8080 })
			f.expect("/ -> web:8080", created, updated)
		}},
		{name: "it goes with the annotation", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.changeService(func(service *corev1.Service) { service.Annotations = nil })
			f.expect("", created, pruned)
		}},
		{name: "it goes when the annotation says no", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.annotateService("ingress/http=false")
			f.expect("", created, pruned)
		}},
		{name: "it goes when the annotation says neither, and an event names that", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.annotateService("ingress/http=True")
			f.expect("", created, `Warning Invalid metadata.annotations[ingress/http]: Unsupported value: "True": supported values: "true", "false"`, pruned)
		}},
		{name: "it comes back when a user deletes it", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.deleteIngress()
			f.expect("/ -> web:80", created, created)
		}},
		{name: "it is put back when a user changes it", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.changeIngress(func(ingress *networkingv1.Ingress) { ingress.Spec.Rules[0].Host = "evil.example.com" })
			f.expect("/ -> web:80", created, "Warning RestoredIngress Restored Ingress web: kubectl-edit had changed spec.rules")
		}},
		{name: "an annotation that a user adds stays", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.changeIngress(func(ingress *networkingv1.Ingress) { annotate(ingress, "example.com/rate-limit=10") })
			f.expect("/ -> web:80", created)
			if got := f.annotationOfIngress("example.com/rate-limit"); got != "10" {
				f.t.Errorf("the annotation is %q", got)
			}
		}},
		{name: "an Ingress that the Service does not own is left alone", test: func(f *testController) {
			f.createForeignIngress()
			f.createService("ingress/http=true")
			f.expect("foreign.example.com/ -> foreign:1", taken)
		}},
		{name: "an event reports a taken name once", test: func(f *testController) {
			f.createForeignIngress()
			f.createService("ingress/http=true")
			f.changeService(func(service *corev1.Service) { service.Labels = map[string]string{"a": "b"} })
			time.Sleep(time.Minute) // of the bubble
			f.expect("foreign.example.com/ -> foreign:1", taken)
		}},
		{name: "an Ingress that the Service does not own stays when the annotation goes", test: func(f *testController) {
			f.createForeignIngress()
			f.createService("ingress/http=true")
			f.annotateService("ingress/http=false")
			f.expect("foreign.example.com/ -> foreign:1", taken)
		}},
		{name: "its place is taken when it goes", test: func(f *testController) {
			f.createForeignIngress()
			f.createService("ingress/http=true")
			f.deleteIngress()
			f.expect("/ -> web:80", taken, created)
		}},
		{name: "an invalid annotation makes none, and an event names it", test: func(f *testController) {
			f.createService("ingress/http=true", "ingress/path=api")
			f.expect("", `Warning Invalid metadata.annotations[ingress/path]: Invalid value: "api": must be an absolute path`)
		}},
		{name: "an invalid annotation leaves what there is", test: func(f *testController) {
			f.createService("ingress/http=true", "ingress/host=shop.example.com")
			f.annotateService("ingress/host=192.0.2.1")
			f.expect("shop.example.com/ -> web:80", created,
				`Warning Invalid metadata.annotations[ingress/host]: Invalid value: "192.0.2.1": must be a DNS name, not an IP address`)
		}},
		{name: "an event reports again that an annotation has become invalid again", test: func(f *testController) {
			const relative = `Warning Invalid metadata.annotations[ingress/path]: Invalid value: "api": must be an absolute path`
			f.createService("ingress/http=true", "ingress/path=api")
			f.annotateService("ingress/path=/api")
			f.annotateService("ingress/path=api")
			f.expect("/api -> web:80", relative, created, relative)
		}},
		{name: "a Service without a port has none, and an event says so", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.changeService(func(service *corev1.Service) { service.Spec.Ports = nil })
			f.expect("/ -> web:80", created, "Warning Invalid spec.ports: Required value: an Ingress needs a port with protocol TCP")
		}},
		{name: "the Service of a box has one", test: func(f *testController) {
			f.setBox(nil)
			f.createService()
			f.changeService(func(service *corev1.Service) { ofBox(service); annotate(service, "ingress/http=true") })
			f.expect("/ -> web:80", created)
		}},
		{name: "the Ingress of a box wins", test: func(f *testController) {
			f.setBox(&modelv1.ModelBoxIngress{})
			f.createService()
			f.changeService(func(service *corev1.Service) { ofBox(service); annotate(service, "ingress/http=true") })
			f.expect("", ofBoxInstead)
		}},
		{name: "it makes way for the Ingress of a box", test: func(f *testController) {
			f.setBox(nil)
			f.createService()
			f.changeService(func(service *corev1.Service) { ofBox(service); annotate(service, "ingress/http=true") })
			f.setBox(&modelv1.ModelBoxIngress{})
			f.expect("", created, ofBoxInstead, pruned)
			f.setBox(nil)
			f.expect("/ -> web:80", created)
		}},
		{name: "a box that merely has the name of the Service is nothing to it", test: func(f *testController) {
			f.setBox(&modelv1.ModelBoxIngress{})
			f.createService("ingress/http=true")
			f.expect("/ -> web:80", created)
		}},
		{name: "a Service that is going is left to the garbage collector", test: func(f *testController) {
			f.createService("ingress/http=true")
			f.changeService(func(service *corev1.Service) {
				now := metav1.Now()
				service.DeletionTimestamp, service.Finalizers = &now, []string{"foregroundDeletion"}
			})
			f.deleteIngress()
			f.expect("", created)
		}},
	} {
		t.Run(row.name, func(t *testing.T) { inBubble(t, row.defaults, row.test) })
	}
}

func (f *testController) annotationOfIngress(name string) string {
	f.t.Helper()
	ingress, err := f.cluster.NetworkingV1().Ingresses(shop).Get(f.t.Context(), web, metav1.GetOptions{})
	f.must(err)
	return ingress.Annotations[name]
}

func TestChangesThatMatterToNoIngressCauseNoWrites(t *testing.T) {
	inBubble(t, serviceingressrender.Defaults{}, func(f *testController) {
		f.createService("ingress/http=true")
		f.cluster.ClearActions()
		f.changeService(func(service *corev1.Service) { service.Labels = map[string]string{"a": "b"} })
		f.changeService(func(service *corev1.Service) { service.Spec.Selector = map[string]string{"app": "web"} })
		if got, want := f.writes(), []string{"update services", "update services"}; !slices.Equal(got, want) {
			t.Errorf("writes: got %q, want %q", got, want)
		}
	})
}

// A cache may be behind: what it says of an annotation must not cost an Ingress.
func TestAnIngressIsNotDeletedOnTheWordOfACache(t *testing.T) {
	inBubble(t, serviceingressrender.Defaults{}, func(f *testController) {
		f.createService("ingress/http=true")
		service, err := f.cluster.CoreV1().Services(shop).Get(t.Context(), web, metav1.GetOptions{})
		f.must(err)
		f.serveService(service.DeepCopy())
		f.cluster.ClearActions()
		f.changeService(func(service *corev1.Service) { service.Annotations = nil })
		f.expect("/ -> web:80", created)
		if got, want := f.writes(), []string{"update services"}; !slices.Equal(got, want) {
			t.Errorf("writes: got %q, want %q", got, want)
		}
	})
}
