// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package claimresize

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/utils/ptr"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
)

func newBox(workload model.Workload, size string) *model.ModelBox {
	return &model.ModelBox{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"},
		Spec:       model.ModelBoxSpec{Workload: workload, Image: "nginx:1.7.9", Storage: []model.ModelBoxStorage{{Name: "data", RequestedSize: resource.MustParse(size)}}},
	}
}

func newStack(size string) *model.ModelStack {
	return &model.ModelStack{
		ObjectMeta: metav1.ObjectMeta{Name: "shop", Namespace: "default"},
		Spec: model.ModelStackSpec{Components: []model.ModelStackComponent{
			{Name: "db", BoxName: "web", Box: &newBox(model.WorkloadDeployment, size).Spec},
		}},
	}
}

func newClaim(name, box, class string) *corev1.PersistentVolumeClaim {
	return &corev1.PersistentVolumeClaim{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default", Labels: map[string]string{modelv1.SelectorLabel: box}},
		Spec: corev1.PersistentVolumeClaimSpec{
			StorageClassName: ptr.To(class),
			Resources:        corev1.VolumeResourceRequirements{Requests: corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("2Gi")}},
		},
	}
}

func newClass(name string, expandable *bool) *storagev1.StorageClass {
	return &storagev1.StorageClass{ObjectMeta: metav1.ObjectMeta{Name: name}, AllowVolumeExpansion: expandable}
}

// requesting lets a claim request that size.
func requesting(claim *corev1.PersistentVolumeClaim, size string) *corev1.PersistentVolumeClaim {
	claim.Spec.Resources.Requests[corev1.ResourceStorage] = resource.MustParse(size)
	return claim
}

func TestSizesOfStorage(t *testing.T) {
	const deployment, statefulSet = model.WorkloadDeployment, model.WorkloadStatefulSet
	const path = "spec.storage[0].size: Forbidden: "
	fixedClass := func(claim string) string {
		return path + "PersistentVolumeClaim " + claim + ` cannot grow as long as allowVolumeExpansion of storage class "fixed" is not true`
	}
	for _, row := range []struct {
		name     string
		new, old runtime.Object
		claims   []runtime.Object
		want     string
	}{
		{"it grows, which its class does not allow", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("web-data", "web", "fixed")}, fixedClass("web-data")},
		{"it grows, and its class says nothing of it", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("web-data", "web", "silent")},
			path + `PersistentVolumeClaim web-data cannot grow as long as allowVolumeExpansion of storage class "silent" is not true`},
		{"it grows, which its class allows", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("web-data", "web", "elastic")}, ""},
		{"it grows, and its class is gone", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("web-data", "web", "gone")},
			path + `PersistentVolumeClaim web-data cannot grow: there is no storage class "gone"`},
		{"it grows, and a user made its volume", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("web-data", "web", "")},
			path + "PersistentVolumeClaim web-data has no storage class, and cannot grow"},
		{"it grows, of a StatefulSet of which one claim cannot", newBox(statefulSet, "3Gi"), newBox(statefulSet, "2Gi"),
			[]runtime.Object{newClaim("data-web-0", "web", "elastic"), newClaim("data-web-1", "web", "fixed")}, fixedClass("data-web-1")},
		{"it grows, of a box of a stack", newStack("3Gi"), newStack("2Gi"), []runtime.Object{newClaim("web-data", "web", "fixed")},
			`spec.components[0].box.storage[0].size: Forbidden: PersistentVolumeClaim web-data cannot grow as long as allowVolumeExpansion of storage class "fixed" is not true`},
		{"it grows, and the claim is as large already", newBox(deployment, "2Gi"), newBox(deployment, "1Gi"), []runtime.Object{newClaim("web-data", "web", "fixed")}, ""},
		{"it grows, and there is no claim", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("other-data", "web", "fixed")}, ""},
		{"it grows, and the claim belongs to another box", newBox(deployment, "3Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("web-data", "other", "fixed")}, ""},
		{"it stays as it is", newBox(deployment, "3Gi"), newBox(deployment, "3Gi"), []runtime.Object{newClaim("web-data", "web", "fixed")}, ""},
		{"it is new", newBox(deployment, "3Gi"), &model.ModelBox{}, []runtime.Object{newClaim("web-data", "web", "fixed")}, ""},

		{"it shrinks below its claim", newBox(deployment, "1Gi"), newBox(deployment, "2Gi"), []runtime.Object{newClaim("web-data", "web", "elastic")},
			path + "a volume cannot shrink: must be at least 2Gi, since PersistentVolumeClaim web-data requests 2Gi"},
		{"it shrinks to its claim, which has not grown", newBox(deployment, "2Gi"), newBox(deployment, "3Gi"), []runtime.Object{newClaim("web-data", "web", "fixed")}, ""},
		{"it shrinks, and there is no claim", newBox(deployment, "1Gi"), newBox(deployment, "2Gi"), nil, ""},
		{"it shrinks below the size before, which its claim has outgrown", newBox(deployment, "1Gi"), newBox(deployment, "2Gi"),
			[]runtime.Object{requesting(newClaim("web-data", "web", "elastic"), "5Gi")},
			path + "a volume cannot shrink: must be at least 2Gi, since PersistentVolumeClaim web-data requests 5Gi"},
		{"it shrinks below one claim of several", newBox(statefulSet, "2Gi"), newBox(statefulSet, "4Gi"),
			[]runtime.Object{newClaim("data-web-0", "web", "fixed"), requesting(newClaim("data-web-1", "web", "fixed"), "3Gi"), newClaim("data-web-2", "web", "fixed")},
			path + "a volume cannot shrink: must be at least 3Gi, since PersistentVolumeClaim data-web-1 requests 3Gi"},
	} {
		t.Run(row.name, func(t *testing.T) {
			classes := []runtime.Object{newClass("fixed", ptr.To(false)), newClass("silent", nil), newClass("elastic", ptr.To(true))}
			expectInvalid(t, validate(t, row.new, row.old, fake.NewClientset(append(row.claims, classes...)...)), row.want)
		})
	}
}

// Storage can grow if the cluster does not answer, or does not let the server ask.
func TestSizesOfStorageWithoutAnAnswer(t *testing.T) {
	for _, row := range []struct{ resource, verb, size, want string }{
		{"persistentvolumeclaims", "list", "3Gi", ""},
		{"storageclasses", "get", "3Gi", ""},
		{"persistentvolumeclaims", "list", "1Gi",
			"spec.storage[0].size: Forbidden: a volume cannot shrink: must be at least 2Gi, as before, as long as its claims are not known: listing PersistentVolumeClaims: no answer"},
	} {
		t.Run(row.resource+" "+row.size, func(t *testing.T) {
			client := fake.NewClientset(newClaim("web-data", "web", "fixed"), newClass("fixed", nil))
			client.PrependReactor(row.verb, row.resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, nil, errors.New("no answer") })
			expectInvalid(t, validate(t, newBox(model.WorkloadDeployment, row.size), newBox(model.WorkloadDeployment, "2Gi"), client), row.want)
		})
	}
}

// TestSizesOfStorageWithALateAnswer changes the size of storage whose claim requests 1Gi. The cluster answers late.
func TestSizesOfStorageWithALateAnswer(t *testing.T) {
	const unknown = "spec.storage[0].size: Forbidden: a volume cannot shrink: must be at least 2Gi, as before, as long as its claims are not known: " +
		`listing PersistentVolumeClaims: Get "http://localhost/api/v1/namespaces/default/persistentvolumeclaims?labelSelector=modelbox%3Dweb": context deadline exceeded`
	for _, row := range []struct {
		name          string
		size          string
		latency, wait time.Duration
		want          string
	}{
		{"it grows", "3Gi", 5 * time.Second, 2 * time.Second, ""},
		{"it shrinks", "1Gi", 5 * time.Second, 5 * time.Second, ""},
		{"it shrinks, and the answer is too late", "1Gi", 20 * time.Second, 10 * time.Second, unknown},
	} {
		t.Run(row.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client, err := kubernetes.NewForConfig(&rest.Config{Transport: lateClaims(row.latency)})
				if err != nil {
					t.Fatal(err)
				}
				start := time.Now()
				expectInvalid(t, validate(t, newBox(model.WorkloadDeployment, row.size), newBox(model.WorkloadDeployment, "2Gi"), client), row.want)
				if waited := time.Since(start); waited != row.wait {
					t.Errorf("the update waited %s, want %s", waited, row.wait)
				}
			})
		})
	}
}

// lateClaims is a transport that answers each request after this time with the claim of the box, which requests 1Gi.
type lateClaims time.Duration

func (l lateClaims) RoundTrip(request *http.Request) (*http.Response, error) {
	select {
	case <-request.Context().Done():
		return nil, request.Context().Err()
	case <-time.After(time.Duration(l)):
	}
	claims := &corev1.PersistentVolumeClaimList{Items: []corev1.PersistentVolumeClaim{*requesting(newClaim("web-data", "web", "fixed"), "1Gi")}}
	body := runtime.EncodeOrDie(scheme.Codecs.LegacyCodec(corev1.SchemeGroupVersion), claims)
	return &http.Response{
		StatusCode: http.StatusOK,
		Header:     http.Header{"Content-Type": []string{runtime.ContentTypeJSON}},
		Body:       io.NopCloser(strings.NewReader(body)),
		Request:    request,
	}, nil
}

// expectInvalid checks the answer to an update: "" is one that is accepted, and anything else what is wrong with a field.
func expectInvalid(t *testing.T, err error, want string) {
	t.Helper()
	if want == "" {
		if err != nil {
			t.Errorf("got error %v", err)
		}
		return
	}
	if !apierrors.IsInvalid(err) || !strings.HasSuffix(err.Error(), "is invalid: "+want) {
		t.Errorf("got error %v, want %s", err, want)
	}
}

// validate returns the answer to an update.
func validate(t *testing.T, object, old runtime.Object, client kubernetes.Interface) error {
	t.Helper()
	plugin := newPlugin()
	plugin.SetExternalKubeClientSet(client)
	if err := plugin.ValidateInitialization(); err != nil {
		t.Fatal(err)
	}
	kind, resource := "ModelBox", "modelboxes"
	if _, isStack := object.(*model.ModelStack); isStack {
		kind, resource = "ModelStack", "modelstacks"
	}
	attributes := admission.NewAttributesRecord(object, old, modelv1.SchemeGroupVersion.WithKind(kind), "default", "web",
		modelv1.SchemeGroupVersion.WithResource(resource), "", admission.Update, nil, false, nil)
	return plugin.Validate(t.Context(), attributes, nil)
}
