// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package migrate

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	aggregatorfake "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset/fake"
)

// automanaged is the APIService that the cluster makes for custom resources.
func automanaged() *apiregistrationv1.APIService {
	return &apiregistrationv1.APIService{
		ObjectMeta: metav1.ObjectMeta{Name: apiServiceName, Labels: map[string]string{automanagedLabel: "true", "mine": "yes"}},
		Spec:       apiregistrationv1.APIServiceSpec{Group: "model.github.com", Version: "v1", VersionPriority: 100},
	}
}

func TestGroupChangesHands(t *testing.T) {
	o := newOptions(t)
	o.clients.apiServices = aggregatorfake.NewSimpleClientset(automanaged())
	client := o.clients.apiServices.ApiregistrationV1().APIServices()

	if err := o.clients.handToServer(t.Context(), defaultAPIService(), dryRunNone); err != nil {
		t.Fatal(err)
	}
	service, err := client.Get(t.Context(), apiServiceName, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(defaultAPIService().Spec, service.Spec); diff != "" {
		t.Errorf("spec (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]string{"mine": "yes"}, service.Labels); diff != "" {
		t.Errorf("labels, of which the cluster must not have its own (-want +got):\n%s", diff)
	}
	if isServed, err := o.clients.isServedByServer(t.Context()); err != nil || !isServed {
		t.Errorf("served by the server: %v, %v", isServed, err)
	}

	for range 2 {
		if err := o.clients.handToDefinition(t.Context(), dryRunNone); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := client.Get(t.Context(), apiServiceName, metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the APIService of the server: %v", err)
	}
	if err := o.clients.handToServer(t.Context(), defaultAPIService(), dryRunNone); err != nil {
		t.Errorf("without an APIService: %v", err)
	}
}

func TestAPIServiceOfCustomResourcesIsNotDeleted(t *testing.T) {
	o := newOptions(t)
	o.clients.apiServices = aggregatorfake.NewSimpleClientset(automanaged())
	if err := o.clients.handToDefinition(t.Context(), dryRunNone); err != nil {
		t.Fatal(err)
	}
	if _, err := o.clients.apiServices.ApiregistrationV1().APIServices().Get(t.Context(), apiServiceName, metav1.GetOptions{}); err != nil {
		t.Error(err)
	}
}

func TestReadAPIServiceTakesThatOfAServerOnly(t *testing.T) {
	for name, row := range map[string]struct {
		manifest string
		isTaken  bool
	}{
		"of a server":         {"{apiVersion: apiregistration.k8s.io/v1, kind: APIService, metadata: {name: v1.model.github.com}, spec: {service: {name: s, namespace: n}}}", true},
		"of another group":    {"{kind: APIService, metadata: {name: v1.apps}, spec: {service: {name: s, namespace: n}}}", false},
		"of custom resources": {"{kind: APIService, metadata: {name: v1.model.github.com}}", false},
		"of an unknown field": {"{kind: APIService, metadata: {name: v1.model.github.com}, spec: {server: s}}", false},
		"which is a Service":  {"{kind: Service, metadata: {name: v1.model.github.com}}", false},
	} {
		t.Run(name, func(t *testing.T) {
			o := &options{filename: filepath.Join(t.TempDir(), "apiservice.yaml")}
			if err := os.WriteFile(o.filename, []byte(row.manifest), 0o600); err != nil {
				t.Fatal(err)
			}
			if _, err := o.readAPIService(); (err == nil) != row.isTaken {
				t.Errorf("got %v", err)
			}
		})
	}
}
