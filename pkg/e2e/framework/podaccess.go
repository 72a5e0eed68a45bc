// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package framework

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/remotecommand"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned"
	modelscheme "github.com/sharelinuxs/modelbox-apiserver/pkg/generated/clientset/versioned/scheme"
)

// PodAccessManifest has the permissions of the server for the pods of boxes, which it does not have by default.
func PodAccessManifest() string {
	return InRepository("artifacts", "components", "pod-access", "rbac.yaml")
}

// GrantPodAccess grants the server the permissions for the pods of boxes.
func (p *ControlPlane) GrantPodAccess(t *testing.T) {
	t.Helper()
	kubectl := p.NewNamespace(t).Kubectl
	kubectl.Run("apply", "--filename="+PodAccessManifest())
	kubectl.AwaitAllowed(ServerUser, "create pods --subresource=portforward --all-namespaces")
	kubectl.AwaitAllowed(ServerUser, "get pods --subresource=log --all-namespaces")
}

// Grant grants a user the permissions in the namespace, and waits until they take effect.
func (n *Namespace) Grant(user string, rules ...rbacv1.PolicyRule) {
	n.T.Helper()
	rbac, meta := n.ControlPlane.KubeClient.RbacV1(), metav1.ObjectMeta{GenerateName: user + "-"}
	role, err := rbac.Roles(n.Name).Create(n.Ctx, &rbacv1.Role{ObjectMeta: meta, Rules: rules}, metav1.CreateOptions{})
	if err != nil {
		n.T.Fatal(err)
	}
	if _, err := rbac.RoleBindings(n.Name).Create(n.Ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}},
	}, metav1.CreateOptions{}); err != nil {
		n.T.Fatal(err)
	}
	for _, rule := range rules {
		resource, subresource, _ := strings.Cut(rule.Resources[0], "/")
		n.Eventually(user+" is granted "+rule.Resources[0], func() error {
			review, err := n.ControlPlane.KubeClient.AuthorizationV1().SubjectAccessReviews().Create(n.Ctx, &authorizationv1.SubjectAccessReview{
				Spec: authorizationv1.SubjectAccessReviewSpec{User: user, ResourceAttributes: &authorizationv1.ResourceAttributes{
					Namespace: n.Name, Verb: rule.Verbs[0], Group: rule.APIGroups[0], Resource: resource, Subresource: subresource,
				}},
			}, metav1.CreateOptions{})
			if err == nil && !review.Status.Allowed {
				err = errors.New("the cluster denies it")
			}
			return err
		})
	}
}

// ConfigAs returns the configuration of clients of a user, of the administrator for an empty name.
func (p *ControlPlane) ConfigAs(user string) *rest.Config {
	config := rest.CopyConfig(p.Config)
	config.Impersonate.UserName = user
	return config
}

// StreamProtocols are the protocols of connections to pods.
var StreamProtocols = []string{"WebSocket", "SPDY"}

// StreamURL returns the URL of a subresource of a box with these options.
func (n *Namespace) StreamURL(config *rest.Config, box, subresource string, options runtime.Object) (*url.URL, error) {
	client, err := versioned.NewForConfig(config)
	if err != nil {
		return nil, err
	}
	return client.ModelV1().RESTClient().Get().Namespace(n.Name).Resource("modelboxes").Name(box).SubResource(subresource).
		VersionedParams(options, modelscheme.ParameterCodec).URL(), nil
}

// Stream executes exec or attach of a box, and returns when its streams end.
func (n *Namespace) Stream(ctx context.Context, config *rest.Config, protocol, box, subresource string, options runtime.Object, streams remotecommand.StreamOptions) error {
	location, err := n.StreamURL(config, box, subresource, options)
	if err != nil {
		return err
	}
	var executor remotecommand.Executor
	switch protocol {
	case "WebSocket":
		executor, err = remotecommand.NewWebSocketExecutor(config, http.MethodGet, location.String())
	case "SPDY":
		executor, err = remotecommand.NewSPDYExecutor(config, http.MethodPost, location)
	default:
		err = fmt.Errorf("%q is not a protocol of streams", protocol)
	}
	if err != nil {
		return err
	}
	return executor.StreamWithContext(ctx, streams)
}
