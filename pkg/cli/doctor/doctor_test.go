// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	authorizationv1 "k8s.io/api/authorization/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	kubefake "k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/client-go/util/cert"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorfake "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
	clocktesting "k8s.io/utils/clock/testing"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/yaml"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/fake"
)

// newOptions returns options for a cluster with these objects, at a time at which certificates that are made now are valid.
func newOptions(t *testing.T, apiService *apiregistrationv1.APIService, objects ...runtime.Object) *Options {
	t.Helper()
	streams, _, _, _ := genericiooptions.NewTestIOStreams()
	o := &Options{
		IOStreams:   streams,
		config:      &rest.Config{},
		client:      kubefake.NewClientset(objects...),
		boxes:       fake.NewSimpleClientset(),
		apiServices: aggregatorfake.NewSimpleClientset(),
		clock:       clocktesting.NewFakePassiveClock(time.Now()),
		apiService:  apiService,
	}
	if apiService != nil {
		o.apiServices = aggregatorfake.NewSimpleClientset(apiService)
	}
	return o
}

func newAPIService(change func(*apiregistrationv1.APIService)) *apiregistrationv1.APIService {
	apiService := &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: apiServiceName},
		Spec: apiregistrationv1.APIServiceSpec{
			Service: &apiregistrationv1.ServiceReference{Namespace: "modelbox-system", Name: "modelbox-apiserver", Port: ptr.To[int32](443)},
		},
		Status: apiregistrationv1.APIServiceStatus{Conditions: []apiregistrationv1.APIServiceCondition{
			{Type: apiregistrationv1.Available, Status: apiregistrationv1.ConditionTrue},
		}},
	}
	if change != nil {
		change(apiService)
	}
	return apiService
}

// statuses are what findings say, as STATUS MESSAGE.
func statuses(found findings) []string {
	texts := make([]string, len(found))
	for i, finding := range found {
		texts[i] = string(finding.status) + " " + finding.message
	}
	return texts
}

func expect(t *testing.T, found findings, want ...string) {
	t.Helper()
	got := statuses(found)
	if len(got) != len(want) {
		t.Fatalf("got %q, want %q", got, want)
	}
	for i := range want {
		if !strings.Contains(got[i], want[i]) {
			t.Errorf("got %q, want %q", got[i], want[i])
		}
	}
}

func TestWantedPermissionsAreThoseOfTheRole(t *testing.T) {
	data, err := os.ReadFile("../../../artifacts/base/rbac.yaml")
	if err != nil {
		t.Fatal(err)
	}
	role := &rbacv1.ClusterRole{}
	first, _, _ := strings.Cut(string(data), "\n---\n")
	if err := yaml.Unmarshal([]byte(first), role); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(role.Rules, wanted); diff != "" {
		t.Errorf("-artifacts/base/rbac.yaml +doctor:\n%s", diff)
	}
}

func TestCertificates(t *testing.T) {
	now := time.Now()
	day := 24 * time.Hour
	for _, row := range []struct {
		from, until time.Duration
		want        string
	}{
		{-10 * day, 80 * day, "OK it expires in 80d"},
		{-80 * day, 10 * day, "Warning it expires in 10d and was not renewed in time"},
		{-90 * day, -2 * day, "Failed it expired 2d ago"},
		{day, 90 * day, "Failed it is not valid before "},
	} {
		expect(t, findings{certificateFinding("CA", "it", now.Add(row.from), now.Add(row.until), now)}, row.want)
	}
}

func TestCheckAPIService(t *testing.T) {
	bundle, _, err := cert.GenerateSelfSignedCertKey("modelbox", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range []struct {
		name       string
		apiService *apiregistrationv1.APIService
		want       []string
	}{
		{"not installed", nil, []string{"Failed v1.model.github.com not found: the server is not installed"}},
		{
			"a custom resource", newAPIService(func(s *apiregistrationv1.APIService) { s.Spec.Service = nil }),
			[]string{"Failed v1.model.github.com is served locally"},
		},
		{
			"available", newAPIService(func(s *apiregistrationv1.APIService) { s.Spec.CABundle = bundle }),
			[]string{"OK available through Service modelbox-system/modelbox-apiserver", "OK latest of "},
		},
		{
			"not available", newAPIService(func(s *apiregistrationv1.APIService) {
				s.Status.Conditions[0].Status, s.Status.Conditions[0].Reason, s.Status.Conditions[0].Message = "False", "MissingEndpoints", "there are none"
				s.Spec.InsecureSkipTLSVerify = true
			}),
			[]string{"Failed not available: MissingEndpoints: there are none", "Warning spec.insecureSkipTLSVerify is true"},
		},
		{"without a CA", newAPIService(nil), []string{"OK available", "Warning spec.caBundle is empty"}},
		{
			"a CA that is none", newAPIService(func(s *apiregistrationv1.APIService) { s.Spec.CABundle, s.Status.Conditions = []byte("?"), nil }),
			[]string{"Failed v1.model.github.com has no condition Available yet", "Failed spec.caBundle: "},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := newOptions(t, row.apiService)
			expect(t, o.checkAPIService(t.Context()), row.want...)
		})
	}
}

func TestCheckLease(t *testing.T) {
	now := time.Now()
	lease := func(holder string, renewed time.Duration) *coordinationv1.Lease {
		return &coordinationv1.Lease{
			ObjectMeta: metav1.ObjectMeta{Namespace: "modelbox-system", Name: leaseName},
			Spec: coordinationv1.LeaseSpec{
				HolderIdentity: &holder, LeaseDurationSeconds: ptr.To[int32](15),
				AcquireTime: ptr.To(metav1.NewMicroTime(now.Add(-time.Hour))), RenewTime: ptr.To(metav1.NewMicroTime(now.Add(-renewed))),
			},
		}
	}
	for want, objects := range map[string][]runtime.Object{
		"OK leader a for 60m": {lease("a", time.Second)},
		"Failed a stopped renewing Lease modelbox-controller": {lease("a", time.Minute)},
		"Failed Lease modelbox-controller has no holder":      {lease("", time.Second)},
		"Failed Lease modelbox-controller not found":          nil,
	} {
		o := newOptions(t, newAPIService(nil), objects...)
		o.clock = clocktesting.NewFakePassiveClock(now)
		expect(t, o.checkLease(t.Context()), want)
	}
}

func TestEndpointsAreCountedOnce(t *testing.T) {
	pod := func(name string, ready bool) discoveryv1.Endpoint {
		return discoveryv1.Endpoint{TargetRef: &corev1.ObjectReference{Kind: "Pod", Name: name}, Conditions: discoveryv1.EndpointConditions{Ready: &ready}}
	}
	ports := []discoveryv1.EndpointPort{{Port: ptr.To[int32](6443)}}
	addresses, ready := endpoints([]discoveryv1.EndpointSlice{
		{Ports: ports, Endpoints: []discoveryv1.Endpoint{pod("a", true), pod("b", false)}},
		{Ports: ports, Endpoints: []discoveryv1.Endpoint{pod("a", true), {Addresses: []string{"192.0.2.1"}}}},
		{Endpoints: []discoveryv1.Endpoint{pod("of-no-port", true)}},
	})
	want := []address{{name: "a", pod: "a", port: 6443}, {name: "b", pod: "b", port: 6443}, {name: "192.0.2.1:6443", host: "192.0.2.1", port: 6443}}
	if diff := cmp.Diff(want, addresses, cmp.AllowUnexported(address{})); diff != "" || ready != 2 {
		t.Errorf("%d are ready, -want +got:\n%s", ready, diff)
	}
}

func TestCheckPermissions(t *testing.T) {
	service := &corev1.Service{
		ObjectMeta: metav1.ObjectMeta{Namespace: "modelbox-system", Name: "modelbox-apiserver"},
		Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": "modelbox"}},
	}
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "modelbox-system", Name: "a", Labels: service.Spec.Selector},
		Spec:       corev1.PodSpec{ServiceAccountName: "server"},
	}
	for _, row := range []struct {
		name    string
		objects []runtime.Object
		answer  func(*authorizationv1.ResourceAttributes) (bool, error)
		want    string
	}{
		{"all of them", []runtime.Object{service, pod}, func(*authorizationv1.ResourceAttributes) (bool, error) { return true, nil },
			"OK system:serviceaccount:modelbox-system:server has all permissions that it needs"},
		{"two are missing", []runtime.Object{service, pod}, func(a *authorizationv1.ResourceAttributes) (bool, error) {
			return describe(a) != "list replicasets.apps" && describe(a) != "update resourcequotas/status", nil
		}, "Failed system:serviceaccount:modelbox-system:server cannot list replicasets.apps, update resourcequotas/status: apply"},
		{"the user may not ask", []runtime.Object{service, pod}, func(*authorizationv1.ResourceAttributes) (bool, error) {
			return false, apierrors.NewForbidden(authorizationv1.Resource("subjectaccessreviews"), "", errors.New("no"))
		}, "Unknown "},
		{"a server outside", []runtime.Object{&corev1.Service{ObjectMeta: service.ObjectMeta}}, nil, "Unknown cannot determine the ServiceAccount of the servers"},
	} {
		t.Run(row.name, func(t *testing.T) {
			o := newOptions(t, newAPIService(nil), row.objects...)
			o.client.(*kubefake.Clientset).PrependReactor("create", "subjectaccessreviews", func(action clienttesting.Action) (bool, runtime.Object, error) {
				review := action.(clienttesting.CreateAction).GetObject().(*authorizationv1.SubjectAccessReview).DeepCopy()
				var err error
				review.Status.Allowed, err = row.answer(review.Spec.ResourceAttributes)
				return true, review, err
			})
			expect(t, o.checkPermissions(t.Context()), row.want)
		})
	}
}

func TestCheckServers(t *testing.T) {
	const metrics = `modelbox_build_info{version="v1.2.3",commit="abc"} 1
# TYPE modelbox_storage_quota_bytes gauge
modelbox_storage_quota_bytes 8.589934592e+09
# TYPE modelbox_storage_in_use_bytes gauge
modelbox_storage_in_use_bytes %s
# TYPE modelbox_storage_shortage gauge
modelbox_storage_shortage{reason="QuotaReached"} %s
`
	for _, row := range []struct {
		name   string
		answer http.HandlerFunc
		want   []string
	}{
		{
			"ready", answers(http.StatusOK, "", fmt.Sprintf(metrics, "1.048576e+08", "0")),
			[]string{"OK is an ExternalName Service for", "OK certificate expires in", "OK ready, version v1.2.3", "OK etcd uses 100Mi of 8Gi"},
		},
		{
			"nearly full", answers(http.StatusOK, "", fmt.Sprintf(metrics, "8e+09", "0")),
			[]string{"OK is an ExternalName Service", "OK certificate", "OK ready", "Warning etcd uses 7629Mi of 8Gi, nearly full"},
		},
		{
			"full", answers(http.StatusOK, "", fmt.Sprintf(metrics, "8.6e+09", "1")),
			[]string{"OK is an ExternalName Service", "OK certificate", "OK ready", "Failed etcd uses 8201Mi of 8Gi, and the server refuses new objects: QuotaReached"},
		},
		{
			"an etcd outside", answers(http.StatusOK, "", "modelbox_build_info{version=\"v1.2.3\"} 1\n"),
			[]string{"OK is an ExternalName Service", "OK certificate", "OK ready, version v1.2.3"},
		},
		{
			"not ready", answers(http.StatusInternalServerError, "[+]ping ok\n[-]etcd failed: reason withheld\n[-]informer-sync failed\n", ""),
			[]string{"OK is an ExternalName Service", "OK certificate", "Failed not ready: etcd, informer-sync"},
		},
		{
			"the user may not read metrics", func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path == "/metrics" {
					http.Error(w, "no", http.StatusForbidden)
				}
			},
			[]string{"OK is an ExternalName Service", "OK certificate", "OK ready", "Unknown getting its metrics"},
		},
	} {
		t.Run(row.name, func(t *testing.T) {
			listener := httptest.NewTLSServer(row.answer)
			t.Cleanup(listener.Close)
			host, port, err := net.SplitHostPort(listener.Listener.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			number, err := strconv.ParseInt(port, 10, 32)
			if err != nil {
				t.Fatal(err)
			}
			o := newOptions(t, newAPIService(func(s *apiregistrationv1.APIService) {
				s.Spec.InsecureSkipTLSVerify, s.Spec.Service.Port = true, ptr.To(int32(number))
			}), &corev1.Service{
				ObjectMeta: metav1.ObjectMeta{Namespace: "modelbox-system", Name: "modelbox-apiserver"},
				Spec:       corev1.ServiceSpec{Type: corev1.ServiceTypeExternalName, ExternalName: host},
			})
			// The certificate of httptest is valid whenever the tests run.
			o.clock = clocktesting.NewFakePassiveClock(listener.Certificate().NotBefore.Add(time.Hour))
			expect(t, o.checkServers(t.Context()), row.want...)
		})
	}
}

// answers answers /readyz with a code and a text, and /metrics with another one.
func answers(code int, readyz, metrics string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/readyz":
			w.WriteHeader(code)
			fmt.Fprint(w, readyz)
		case "/metrics":
			fmt.Fprint(w, metrics)
		}
	}
}

func TestCheckObjects(t *testing.T) {
	o := newOptions(t, nil)
	client := fake.NewSimpleClientset(
		&modelv1.PodDebugger{ObjectMeta: metav1.ObjectMeta{Namespace: "a", Name: "shell"}},
		&modelv1.PodDebugger{ObjectMeta: metav1.ObjectMeta{Namespace: "b", Name: "shell"}},
	)
	o.boxes = client
	// What it is given at first it guesses the plural of.
	if _, err := client.ModelV1().ModelBoxes("a").Create(t.Context(), &modelv1.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web"}}, metav1.CreateOptions{}); err != nil {
		t.Fatal(err)
	}
	expect(t, o.checkObjects(t.Context()), "OK 1 box, 0 stacks, 0 networks, 2 PodDebuggers")

	answer := func(resource string, list runtime.Object, err error) {
		client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) { return true, list, err })
	}
	answer("modelstacks", &modelv1.ModelStackList{ListMeta: metav1.ListMeta{RemainingItemCount: ptr.To[int64](24)}, Items: make([]modelv1.ModelStack, 1)}, nil)
	answer("poddebuggers", nil, apierrors.NewNotFound(modelv1.Resource("poddebuggers"), ""))
	expect(t, o.checkObjects(t.Context()), "OK 1 box, 25 stacks, 0 networks")
	answer("networks", nil, apierrors.NewForbidden(modelv1.Resource("networks"), "", errors.New("no")))
	expect(t, o.checkObjects(t.Context()), "Unknown networks.model.github.com is forbidden")
	answer("modelboxes", nil, apierrors.NewNotFound(modelv1.Resource("modelboxes"), ""))
	expect(t, o.checkObjects(t.Context()), "Failed ")
}

func TestRunFailsIfSomethingDoes(t *testing.T) {
	o := newOptions(t, nil)
	streams, _, out, _ := genericiooptions.NewTestIOStreams()
	o.IOStreams = streams
	if err := o.Run(context.Background()); err == nil || !strings.Contains(out.String(), "Failed") {
		t.Errorf("got %v\n%s", err, out)
	}
}
