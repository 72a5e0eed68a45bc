// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package policies

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	admissionregistrationv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	validatingpolicy "k8s.io/apiserver/pkg/admission/plugin/policy/validating"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizerfactory"
	genericapiserver "k8s.io/apiserver/pkg/server"
	utilfeature "k8s.io/apiserver/pkg/util/feature"
	dynamicfake "k8s.io/client-go/dynamic/fake"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apiserver"
)

// host answers discovery with the resources that it serves, or not at all while it serves none.
type host struct {
	served atomic.Pointer[[]string]
}

func (h *host) serve(resources ...string) { h.served.Store(&resources) }

func (h *host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	served := h.served.Load()
	if served == nil || r.URL.Path != "/apis/admissionregistration.k8s.io/v1" {
		http.NotFound(w, r)
		return
	}
	list := &metav1.APIResourceList{GroupVersion: "admissionregistration.k8s.io/v1"}
	for _, name := range *served {
		list.APIResources = append(list.APIResources, metav1.APIResource{Name: name})
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(list)
}

// configFor returns the configuration of a server in the cluster of the host.
func configFor(t *testing.T, h *host) *genericapiserver.RecommendedConfig {
	t.Helper()
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	config := genericapiserver.NewRecommendedConfig(apiserver.Codecs)
	config.ClientConfig = &rest.Config{Host: server.URL, QPS: -1}
	return config
}

func TestPolicyKindsThatTheHostServes(t *testing.T) {
	const validating, mutating = "validatingadmissionpolicies", "mutatingadmissionpolicies"
	for _, row := range []struct {
		name   string
		served []string
		want   []string
	}{
		{"a host with both", []string{validating, mutating}, []string{validating, mutating}},
		{"a host with the older one", []string{validating, "validatingwebhookconfigurations"}, []string{validating}},
		{"a host with webhooks only", []string{"validatingwebhookconfigurations"}, nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			h, policies := &host{}, NewKinds()
			h.serve(row.served...)
			if err := policies.Find(configFor(t, h)); err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, kind := range policies.all() {
				if kind.isServed.Load() {
					got = append(got, kind.resource)
				}
			}
			if diff := cmp.Diff(row.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

func TestAHostThatCannotBeAskedIsNoHostWithoutPolicies(t *testing.T) {
	if err := NewKinds().Find(configFor(t, &host{})); err == nil {
		t.Error("the policies of a host that did not answer are off")
	}
}

func TestPoliciesAreEnforcedOnceTheyAreServed(t *testing.T) {
	h, policies := &host{}, NewKinds()
	h.serve("validatingwebhookconfigurations")
	config := configFor(t, h)
	client := fake.NewClientset(
		&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default"}},
		&admissionregistrationv1.ValidatingAdmissionPolicy{
			ObjectMeta: metav1.ObjectMeta{Name: "none"},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicySpec{
				MatchConstraints: &admissionregistrationv1.MatchResources{
					ResourceRules: []admissionregistrationv1.NamedRuleWithOperations{{RuleWithOperations: admissionregistrationv1.RuleWithOperations{
						Operations: []admissionregistrationv1.OperationType{admissionregistrationv1.OperationAll},
						Rule:       admissionregistrationv1.Rule{APIGroups: []string{"*"}, APIVersions: []string{"*"}, Resources: []string{"*"}},
					}}},
					NamespaceSelector: &metav1.LabelSelector{}, ObjectSelector: &metav1.LabelSelector{},
				},
				Validations: []admissionregistrationv1.Validation{{Expression: "false", Message: "there is a policy"}},
			},
		},
		&admissionregistrationv1.ValidatingAdmissionPolicyBinding{
			ObjectMeta: metav1.ObjectMeta{Name: "none"},
			Spec: admissionregistrationv1.ValidatingAdmissionPolicyBindingSpec{
				PolicyName: "none", ValidationActions: []admissionregistrationv1.ValidationAction{admissionregistrationv1.Deny},
			},
		})
	config.SharedInformerFactory = informers.NewSharedInformerFactory(client, 0)
	if err := policies.Find(config); err != nil {
		t.Fatal(err)
	}
	plugins := admission.NewPlugins()
	Register(plugins)
	plugin, err := plugins.InitPlugin(validatingpolicy.PluginName, nil, admission.PluginInitializers{policies, initializer.New(client,
		dynamicfake.NewSimpleDynamicClient(apiserver.Scheme), config.SharedInformerFactory, authorizerfactory.NewAlwaysAllowAuthorizer(),
		utilfeature.DefaultFeatureGate, nil, t.Context().Done(), meta.NewDefaultRESTMapper(nil))})
	if err != nil {
		t.Fatal(err)
	}
	validate := func() error {
		box := &model.ModelBox{ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: "default"}}
		return plugin.(admission.ValidationInterface).Validate(t.Context(), admission.NewAttributesRecord(box, nil,
			modelv1.SchemeGroupVersion.WithKind("ModelBox"), box.Namespace, box.Name, modelv1.SchemeGroupVersion.WithResource("modelboxes"),
			"", admission.Create, nil, false, &user.DefaultInfo{Name: "jane"}), admission.NewObjectInterfacesFromScheme(apiserver.Scheme))
	}
	if err := validate(); err != nil {
		t.Errorf("a host without policies: %v", err)
	}

	done := make(chan struct{})
	go func() {
		defer close(done)
		policies.await(t.Context(), config, time.Millisecond)
	}()
	h.serve("validatingadmissionpolicies")
	<-done
	for deadline := time.Now().Add(30 * time.Second); ; {
		err := validate()
		if err != nil && strings.Contains(err.Error(), "there is a policy") {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("there is a policy that the plugin does not enforce: %v", err)
		}
		time.Sleep(time.Millisecond)
	}
}
