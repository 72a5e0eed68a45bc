// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apiserver/pkg/authentication/user"
	"k8s.io/apiserver/pkg/authorization/authorizer"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/warn"
)

// seesNamespaces lets jane get the boxes of the namespaces, and fails to answer about others.
func seesNamespaces(namespaces ...string) authorizer.UnconditionalAuthorizer {
	return authorizer.AuthorizerFunc(func(_ context.Context, a authorizer.Attributes) (authorizer.Decision, string, error) {
		isAsked := a.GetVerb() == "get" && a.GetAPIGroup() == "model.github.com" && slices.Contains([]string{"modelboxes", "networks"}, a.GetResource()) && a.IsResourceRequest()
		if isAsked && a.GetUser().GetName() == "jane" && slices.Contains(namespaces, a.GetNamespace()) {
			return authorizer.DecisionAllow, "", nil
		}
		return authorizer.DecisionNoOpinion, "", errors.New("the cluster is unavailable")
	})
}

// byUser is the context of a request.
func byUser(t *testing.T, name string) context.Context {
	t.Helper()
	return genericapirequest.WithUser(t.Context(), &user.DefaultInfo{Name: name})
}

func TestWarningsNameNoBoxThatTheUserMayNotSee(t *testing.T) {
	in := func(namespace string) func(*model.ModelBox) {
		return func(box *model.ModelBox) { box.Namespace, box.Name = namespace, "mail" }
	}
	hidden := "spec.ports[0].nodePort: " + warn.AlreadyRequested("30010/TCP", "another ModelBox")
	for _, row := range []struct {
		name string
		ctx  context.Context
		box  func(*model.ModelBox)
		want string
	}{
		{"a box that jane sees", byUser(t, "jane"), in("post"), "spec.ports[0].nodePort: " + warn.AlreadyRequested("30010/TCP", "ModelBox mail in namespace post")},
		{"a box that jane does not see", byUser(t, "jane"), in("secret"), hidden},
		{"a box that john does not see", byUser(t, "john"), in("post"), hidden},
		{"a box of the same namespace that john does not see", byUser(t, "john"), in("default"), hidden},
		{"a request without a user", t.Context(), in("post"), hidden},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := newStrategy(webBox(row.box, nodePortOf("TCP", 30010))).WarningsOnCreate(row.ctx, webBox(nodePortOf("TCP", 30010)))
			if diff := cmp.Diff([]string{row.want}, got); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
		})
	}
}

// The warning names one box, however many boxes ask for a port.
func TestOneBoxIsNamedForANodePort(t *testing.T) {
	other, third := webBox(nodePortOf("TCP", 30010)), webBox(nodePortOf("TCP", 30010))
	other.Name, third.Name = "other", "third"
	got := newStrategy(other, third).WarningsOnCreate(byUser(t, "jane"), webBox(nodePortOf("TCP", 30010)))
	if diff := cmp.Diff([]string{"spec.ports[0].nodePort: " + warn.AlreadyRequested("30010/TCP", "ModelBox other in namespace default")}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}
