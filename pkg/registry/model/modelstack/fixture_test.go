// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelstack

import (
	"context"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	"k8s.io/apiserver/pkg/registry/rest"
	"sigs.k8s.io/yaml"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/registry/model/modelbox"
)

var (
	_ rest.RESTCreateStrategy  = Strategy{}
	_ rest.RESTUpdateStrategy  = Strategy{}
	_ rest.RESTDeleteStrategy  = Strategy{}
	_ rest.ResetFieldsStrategy = Strategy{}
)

var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}()

// newStrategy returns a strategy for a cluster that has the boxes.
func newStrategy(boxes ...*model.ModelBox) Strategy {
	listAll := func(context.Context) (*model.ModelBoxList, error) {
		list := &model.ModelBoxList{}
		for _, box := range boxes {
			list.Items = append(list.Items, *box)
		}
		return list, nil
	}
	getBox := func(_ context.Context, namespace, name string) (*model.ModelBox, error) {
		for _, box := range boxes {
			if box.Namespace == namespace && box.Name == name {
				return box, nil
			}
		}
		return nil, apierrors.NewNotFound(model.Resource("modelboxes"), name)
	}
	noOpinion := authorizer.AuthorizerFunc(func(context.Context, authorizer.Attributes) (authorizer.Decision, string, error) {
		return authorizer.DecisionNoOpinion, "", nil
	})
	nodePorts := utilnet.PortRange{Base: 30000, Size: 2768}
	getNetwork := func(_ context.Context, _, name string) (*model.Network, error) {
		return nil, apierrors.NewNotFound(model.Resource("networks"), name)
	}
	return NewStrategy(scheme, modelbox.NewStrategy(scheme, listAll, getNetwork, noOpinion, modelbox.SpecValidator{NodePortRange: nodePorts}), getBox)
}

// newStack returns the stack named shop of generation 3 that has the components, in YAML, as the server decodes it and as
// it is prepared for its creation, with the changes.
func newStack(t testing.TB, components string, changes ...func(*model.ModelStack)) *model.ModelStack {
	t.Helper()
	served := &modelv1.ModelStack{}
	served.Name, served.Namespace, served.UID = "shop", metav1.NamespaceDefault, "1"
	if err := yaml.UnmarshalStrict([]byte(components), &served.Spec.Components); err != nil {
		t.Fatal(err)
	}
	scheme.Default(served)
	stack := &model.ModelStack{}
	if err := scheme.Convert(served, stack, nil); err != nil {
		t.Fatal(err)
	}
	newStrategy().PrepareForCreate(t.Context(), stack)
	stack.Generation, stack.ResourceVersion = 3, "7"
	for _, change := range changes {
		change(stack)
	}
	return stack
}

// components are the components of a valid stack.
const components = `
- name: db
  boxName: mysql
  box: {workload: StatefulSet, image: "mysql:8.0", ports: [{port: 3306}]}
- name: auth
  external: {host: auth.example.com, port: 443, credentialsSecretName: auth}
- name: api
  dependsOn: [db, auth]
  box: {image: "api:1", replicas: 4, ports: [{port: 80, targetPort: 8080}]}
- name: worker
  dependsOn: [db]
  box: {image: "worker:1"}
`
