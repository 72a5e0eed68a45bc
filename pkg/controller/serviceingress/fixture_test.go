// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serviceingress

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/events"
	"k8s.io/utils/clock"
	"k8s.io/utils/ptr"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apply"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/controller/informers"
	modelfake "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	serviceingressrender "github.com/sharelinuxs/modelbox-apiserver/pkg/render/serviceingress"
)

const (
	shop = "shop"
	web  = "web"
)

// testController is a controller that runs between two fake servers, in the time of the test's bubble.
type testController struct {
	t       *testing.T
	models  *modelfake.Clientset
	cluster *fake.Clientset
	events  chan string
	// version is the last one that the test has written.
	version int
}

// inBubble runs a test with a controller that has these defaults.
func inBubble(t *testing.T, defaults serviceingressrender.Defaults, test func(f *testController)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &testController{t: t, models: modelfake.NewSimpleClientset(), cluster: fake.NewClientset()}
		factories := informers.NewFactories(f.models, f.cluster, time.Hour, trimIngress)
		recorder := events.NewFakeRecorder(1000)
		controller, err := New(ControllerParameters{
			KubeClient:  f.cluster,
			Services:    factories.Kube.Core().V1().Services(),
			Ingresses:   factories.Children.Networking().V1().Ingresses(),
			Boxes:       factories.Model.Model().V1().ModelBoxes(),
			CacheHealth: factories.Health,
			Recorder:    recorder,
			Clock:       clock.RealClock{},
			Defaults:    defaults,
		})
		if err != nil {
			t.Fatal(err)
		}
		f.events = recorder.Events
		ctx, stop := context.WithCancel(t.Context())
		defer synctest.Wait()
		defer factories.Shutdown()
		defer stop()
		factories.Start(ctx)
		go func() {
			if err := controller.Run(ctx); err != nil {
				t.Error(err)
			}
		}()
		f.settle()
		test(f)
	})
}

// trimIngress is what the cache keeps of an Ingress.
func trimIngress(obj any) (any, error) {
	ingress := obj.(*networkingv1.Ingress)
	ingress.SetGroupVersionKind(networkingv1.SchemeGroupVersion.WithKind("Ingress"))
	apply.Trim(ingress)
	return ingress, nil
}

// settle waits until the controller has nothing to do but what it looks at again every so often.
func (f *testController) settle() {
	f.t.Helper()
	time.Sleep(time.Second) // of the bubble
	synctest.Wait()
}

// nextVersion is the resource version of what the test writes next.
func (f *testController) nextVersion() string {
	f.version++
	return strconv.Itoa(f.version)
}

// must is for errors of the fake servers.
func (f *testController) must(err error) {
	f.t.Helper()
	if err != nil {
		f.t.Fatal(err)
	}
}

// createService creates Service web with these annotations, as "name=value".
func (f *testController) createService(annotations ...string) {
	f.t.Helper()
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Name: web, Namespace: shop, UID: "service-1", ResourceVersion: f.nextVersion()},
		Spec:       corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80, Protocol: corev1.ProtocolTCP}}},
	}
	annotate(service, annotations...)
	_, err := f.cluster.CoreV1().Services(shop).Create(f.t.Context(), service, metav1.CreateOptions{})
	f.must(err)
	f.settle()
}

// replaceService deletes Service web, leaves its Ingress, and creates another Service of the name with these annotations.
func (f *testController) replaceService(annotations ...string) {
	f.t.Helper()
	services := f.cluster.CoreV1().Services(shop)
	service, err := services.Get(f.t.Context(), web, metav1.GetOptions{})
	f.must(err)
	f.must(services.Delete(f.t.Context(), web, metav1.DeleteOptions{}))
	f.changeIngress(func(ingress *networkingv1.Ingress) { ingress.OwnerReferences = nil })
	service.UID, service.ResourceVersion, service.Annotations = "service-2", f.nextVersion(), nil
	annotate(service, annotations...)
	_, err = services.Create(f.t.Context(), service, metav1.CreateOptions{})
	f.must(err)
	f.settle()
}

// changeService changes Service web.
func (f *testController) changeService(change func(*corev1.Service)) {
	f.t.Helper()
	service, err := f.cluster.CoreV1().Services(shop).Get(f.t.Context(), web, metav1.GetOptions{})
	f.must(err)
	change(service)
	service.ResourceVersion = f.nextVersion()
	_, err = f.cluster.CoreV1().Services(shop).Update(f.t.Context(), service, metav1.UpdateOptions{})
	f.must(err)
	f.settle()
}

// annotateService sets annotations of Service web.
func (f *testController) annotateService(annotations ...string) {
	f.t.Helper()
	f.changeService(func(service *corev1.Service) { annotate(service, annotations...) })
}

func annotate(object metav1.Object, annotations ...string) {
	all := object.GetAnnotations()
	if all == nil {
		all = map[string]string{}
	}
	for _, annotation := range annotations {
		name, value, _ := strings.Cut(annotation, "=")
		all[name] = value
	}
	object.SetAnnotations(all)
}

// changeIngress changes Ingress web as another client does.
func (f *testController) changeIngress(change func(*networkingv1.Ingress)) {
	f.t.Helper()
	ingress, err := f.cluster.NetworkingV1().Ingresses(shop).Get(f.t.Context(), web, metav1.GetOptions{})
	f.must(err)
	change(ingress)
	_, err = f.cluster.NetworkingV1().Ingresses(shop).Update(f.t.Context(), ingress, metav1.UpdateOptions{FieldManager: "kubectl-edit"})
	f.must(err)
	f.settle()
}

func (f *testController) deleteIngress() {
	f.t.Helper()
	f.must(f.cluster.NetworkingV1().Ingresses(shop).Delete(f.t.Context(), web, metav1.DeleteOptions{}))
	f.settle()
}

// createForeignIngress creates an Ingress of that name that no Service controls, with these annotations, as "name=value".
func (f *testController) createForeignIngress(annotations ...string) {
	f.t.Helper()
	ingress := &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{Name: web, Namespace: shop, UID: "foreign"},
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "foreign.example.com", IngressRuleValue: networkingv1.IngressRuleValue{
			HTTP: &networkingv1.HTTPIngressRuleValue{Paths: []networkingv1.HTTPIngressPath{{
				Path: "/", PathType: ptr.To(networkingv1.PathTypePrefix),
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "foreign", Port: networkingv1.ServiceBackendPort{Number: 1}}},
			}}},
		}}}},
	}
	annotate(ingress, annotations...)
	_, err := f.cluster.NetworkingV1().Ingresses(shop).Create(f.t.Context(), ingress, metav1.CreateOptions{})
	f.must(err)
	f.settle()
}

// ofBox makes the Service the Service of box web.
func ofBox(service *corev1.Service) {
	service.OwnerReferences = []metav1.OwnerReference{{
		APIVersion: "model.github.com/v1", Kind: "ModelBox", Name: web, UID: "box-1", Controller: ptr.To(true),
	}}
}

// setBox creates or changes box web.
func (f *testController) setBox(ingress *modelv1.ModelBoxIngress) {
	f.t.Helper()
	boxes := f.models.ModelV1().ModelBoxes(shop)
	box := &modelv1.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: web, Namespace: shop, UID: "box-1", ResourceVersion: f.nextVersion()},
		Spec:       modelv1.ModelBoxSpec{Ingress: ingress},
	}
	_, err := boxes.Get(f.t.Context(), web, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		_, err = boxes.Create(f.t.Context(), box, metav1.CreateOptions{})
	} else {
		_, err = boxes.Update(f.t.Context(), box, metav1.UpdateOptions{})
	}
	f.must(err)
	f.settle()
}

// ingress is Ingress web in one line, as "class host/path -> service:port", empty where there is none.
func (f *testController) ingress() string {
	f.t.Helper()
	ingress, err := f.cluster.NetworkingV1().Ingresses(shop).Get(f.t.Context(), web, metav1.GetOptions{})
	if apierrors.IsNotFound(err) {
		return ""
	}
	f.must(err)
	var rules []string
	for _, rule := range ingress.Spec.Rules {
		for _, path := range rule.HTTP.Paths {
			backend := path.Backend.Service
			rules = append(rules, fmt.Sprintf("%s%s -> %s:%d", rule.Host, path.Path, backend.Name, backend.Port.Number))
		}
	}
	return strings.TrimSpace(ptr.Deref(ingress.Spec.IngressClassName, "") + " " + strings.Join(rules, ", "))
}

// expect checks the Ingress and the events since the last call.
func (f *testController) expect(ingress string, events ...string) {
	f.t.Helper()
	if got := f.ingress(); got != ingress {
		f.t.Errorf("the Ingress: got %q, want %q", got, ingress)
	}
	if got := f.told(); !slices.Equal(got, events) {
		f.t.Errorf("events: got %q, want %q", got, events)
	}
}

// told returns the events that were recorded since the last call.
func (f *testController) told() []string {
	var told []string
	for {
		select {
		case event := <-f.events:
			told = append(told, event)
		default:
			return told
		}
	}
}

// ours returns whether the Ingress carries what marks those that the controller may delete.
func (f *testController) ours() bool {
	f.t.Helper()
	ingress, err := f.cluster.NetworkingV1().Ingresses(shop).Get(f.t.Context(), web, metav1.GetOptions{})
	f.must(err)
	owner := metav1.GetControllerOf(ingress)
	return owner != nil && owner.Kind == "Service" && owner.UID == types.UID("service-1") && ingress.Labels[render.ManagedByLabel] == render.ManagedBy
}

// writes are the writes that the cluster was asked for.
func (f *testController) writes() []string {
	var writes []string
	for _, action := range f.cluster.Actions() {
		if verb := action.GetVerb(); verb != "get" && verb != "list" && verb != "watch" {
			writes = append(writes, verb+" "+action.GetResource().Resource)
		}
	}
	return writes
}

// serveService lets clients that read the Service, and do not watch it, see this one.
func (f *testController) serveService(service *corev1.Service) {
	f.cluster.PrependReactor("get", "services", func(clienttesting.Action) (bool, runtime.Object, error) {
		return true, service.DeepCopy(), nil
	})
}
