// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package network

import (
	"context"
	"errors"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/install"
)

var (
	_ rest.RESTCreateStrategy = Strategy{}
	_ rest.RESTUpdateStrategy = Strategy{}
	_ rest.RESTDeleteStrategy = Strategy{}

	_ rest.ResetFieldsStrategy = Strategy{}
)

var scheme = func() *runtime.Scheme {
	scheme := runtime.NewScheme()
	install.Install(scheme)
	return scheme
}()

// lan returns a valid network of generation 3.
func lan(changes ...func(*model.Network)) *model.Network {
	network := &model.Network{
		ObjectMeta: metav1.ObjectMeta{Name: "lan", Namespace: "default", UID: "1", ResourceVersion: "7", Generation: 3},
		Spec:       model.NetworkSpec{CIDR: "192.168.0.0/16", Gateway: "192.168.0.1", Type: model.NetworkTypeBridge},
	}
	for _, change := range changes {
		change(network)
	}
	return network
}

func withGateway(gateway string) func(*model.Network) {
	return func(network *model.Network) { network.Spec.Gateway = gateway }
}

// named returns a network of another name and range.
func named(name, cidr string) *model.Network {
	return lan(func(network *model.Network) { network.Name, network.Spec.CIDR = name, cidr })
}

// newStrategy returns a strategy for a namespace "default" that has the given networks. jane may list them.
func newStrategy(networks ...*model.Network) Strategy {
	return NewStrategy(scheme, func(_ context.Context, namespace string) (*model.NetworkList, error) {
		if namespace != metav1.NamespaceDefault {
			return nil, errors.New("another namespace was asked for")
		}
		list := &model.NetworkList{}
		for _, network := range networks {
			list.Items = append(list.Items, *network)
		}
		return list, nil
	}, authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		isAsked := a.GetVerb() == "list" && a.GetAPIGroup() == "model.github.com" && a.GetResource() == "networks" &&
			a.GetNamespace() == metav1.NamespaceDefault && a.IsResourceRequest()
		if isAsked && a.GetUser().GetName() == "jane" {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", errors.New("the cluster is unavailable")
	}))
}

// byUser is the context of a request.
func byUser(t testing.TB, name string) context.Context {
	t.Helper()
	return genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
}
