// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

// TestAdoptionNeedsConsentOfTheIngress tries to take over an Ingress with what the author of a Service may do, and with what
// only a user who may update the Ingress can do.
func TestAdoptionNeedsConsentOfTheIngress(t *testing.T) {
	const (
		foreign = "foreign.example.com/ -> foreign:1"
		ours    = "/ -> web:80"
		asks    = "ingress/http=true"
		consent = "model.github.com/adopt=true"
	)
	controlledBy := func(apiVersion, kind, name string) func(*networkingv1.Ingress) {
		return func(ingress *networkingv1.Ingress) {
			ingress.OwnerReferences = []metav1.OwnerReference{{APIVersion: apiVersion, Kind: kind, Name: name, UID: "other", Controller: ptr.To(true)}}
		}
	}
	cannotAdopt := func(controller string) string {
		return "Warning NotOwned an Ingress named web exists already and does not belong to this Service: " +
			"it cannot be adopted, for it is controlled by " + controller + "; delete it or give the Service another name"
	}
	for _, row := range []struct {
		name string
		test func(f *testController)
	}{
		{"an annotation of the Service is not enough", func(f *testController) {
			f.createForeignIngress()
			f.createService(asks, consent)
			f.expect(foreign, taken)
		}},
		{"an annotation of the Service that is set later is not enough", func(f *testController) {
			f.createForeignIngress()
			f.createService(asks)
			f.annotateService(consent)
			f.expect(foreign, taken)
		}},
		{"an annotation of the Ingress is", func(f *testController) {
			f.createForeignIngress(consent)
			f.createService(asks)
			f.expect(ours, adopted)
		}},
		{"an annotation of the Ingress that is set later is", func(f *testController) {
			f.createForeignIngress()
			f.createService(asks)
			f.changeIngress(func(ingress *networkingv1.Ingress) { annotate(ingress, consent) })
			f.expect(ours, taken, adopted)
		}},
		{"another value of the annotation is not", func(f *testController) {
			f.createForeignIngress("model.github.com/adopt=false")
			f.createService(asks)
			f.expect(foreign, taken)
		}},
		{"a Service that does not ask for an Ingress takes over none", func(f *testController) {
			f.createForeignIngress(consent)
			f.createService()
			f.expect(foreign)
		}},
		{"an Ingress of a box is not adopted", func(f *testController) {
			f.createForeignIngress(consent)
			f.changeIngress(controlledBy("model.github.com/v1", "ModelBox", web))
			f.createService(asks)
			f.expect(foreign, cannotAdopt("ModelBox web"))
		}},
		{"an Ingress of another Service is not adopted", func(f *testController) {
			f.createForeignIngress(consent)
			f.changeIngress(controlledBy("v1", "Service", "mail"))
			f.createService(asks)
			f.expect(foreign, cannotAdopt("Service mail"))
		}},
		{"an adopted Ingress has the consent no more", func(f *testController) {
			f.createForeignIngress(consent, "example.com/rate-limit=10")
			f.createService(asks)
			f.expect(ours, adopted)
			if got := f.annotationOfIngress(modelv1.AdoptAnnotation); got != "" {
				f.t.Errorf("annotation %s: got %q, want none", modelv1.AdoptAnnotation, got)
			}
			if got := f.annotationOfIngress("example.com/rate-limit"); got != "10" {
				f.t.Errorf("another annotation: got %q, want 10", got)
			}
		}},
		{"a consent is good for one adoption", func(f *testController) {
			f.createForeignIngress(consent)
			f.createService(asks)
			f.expect(ours, adopted)
			f.replaceService(asks, consent, "ingress/host=evil.example.com")
			f.expect(ours, taken)
		}},
		{"an Ingress that a deleted Service left is not taken over", func(f *testController) {
			f.createService(asks)
			f.expect(ours, created)
			f.replaceService(asks, consent, "ingress/host=evil.example.com")
			f.expect(ours, taken)
		}},
	} {
		t.Run(row.name, func(t *testing.T) { inBubble(t, serviceingressrender.Defaults{}, row.test) })
	}
}

// A cache may be behind: what it says of an annotation must not cost an Ingress.
func TestAnIngressIsNotAdoptedOnTheWordOfACache(t *testing.T) {
	inBubble(t, serviceingressrender.Defaults{}, func(f *testController) {
		f.serveService(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: web, Namespace: shop, UID: "service-1"}})
		f.createForeignIngress("model.github.com/adopt=true")
		f.createService("ingress/http=true")
		f.expect("foreign.example.com/ -> foreign:1")
	})
}
