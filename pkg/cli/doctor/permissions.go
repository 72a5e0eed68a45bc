// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package doctor

import (
	"context"
	"slices"
	"strings"

	authorizationv1 "k8s.io/api/authorization/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apiserver/pkg/authentication/serviceaccount"
	"k8s.io/client-go/util/workqueue"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/childkinds"
)

// reviewsAtOnce is how many permissions are asked about at a time.
const reviewsAtOnce = 16

// wanted are the permissions of the server in all namespaces, the rules of its ClusterRole in artifacts/base/rbac.yaml.
var wanted = slices.Concat([]rbacv1.PolicyRule{
	rule("", "get,list,watch", "namespaces"),
	rule("admissionregistration.k8s.io", "list,watch", "mutatingwebhookconfigurations", "validatingwebhookconfigurations",
		"mutatingadmissionpolicies", "mutatingadmissionpolicybindings", "validatingadmissionpolicies", "validatingadmissionpolicybindings"),
	rule("", "list,watch", "resourcequotas"),
	rule("", "update", "resourcequotas/status"),
	rule("flowcontrol.apiserver.k8s.io", "list,watch", "flowschemas", "prioritylevelconfigurations"),
	rule("flowcontrol.apiserver.k8s.io", "patch", "flowschemas/status"),
}, childRules(), []rbacv1.PolicyRule{
	rule("apps", "list,update", "replicasets"),
	rule("networking.k8s.io", "list,watch", "ingressclasses"),
	rule("discovery.k8s.io", children, "endpointslices"),
	rule("k8s.cni.cncf.io", children, "network-attachment-definitions"),
	rule("apps", children, "controllerrevisions"),
	rule("storage.k8s.io", "get", "storageclasses"),
	rule("", "delete", "pods"),
	rule("", "update", "pods/resize"),
	rule("", "patch", "pods"),
	rule("model.github.com", "update", "modelboxes/finalizers", "modelstacks/finalizers", "networks/finalizers"),
	rule("", "list,watch", "pods"),
	rule("events.k8s.io", "list,watch,create,patch", "events"),
	{
		APIGroups: []string{"apiregistration.k8s.io"}, Resources: []string{"apiservices"}, ResourceNames: []string{apiServiceName},
		Verbs: []string{"get", "list", "watch", "patch"},
	},
})

// children are the verbs for what stacks and networks become.
var children = strings.Join(childkinds.Verbs(), ",")

func rule(group, verbs string, resources ...string) rbacv1.PolicyRule {
	return rbacv1.PolicyRule{APIGroups: []string{group}, Resources: resources, Verbs: strings.Split(verbs, ",")}
}

// childRules returns a rule for the children of boxes of each API group.
func childRules() []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, kinds := range childkinds.ByGroup() {
		rules = append(rules, rule(kinds[0].Group, children, childkinds.Resources(kinds)...))
	}
	return rules
}

// checkPermissions asks the cluster whether the servers may do what they do.
func (o *Options) checkPermissions(ctx context.Context) findings {
	const check = "Permissions"
	if o.apiService == nil {
		return nil
	}
	user, err := o.serverUser(ctx)
	if err != nil {
		return findings{unanswered(check, err)}
	}
	if user == "" {
		return findings{{statusUnknown, check, "cannot determine the ServiceAccount of the servers: they are not pods of the cluster"}}
	}
	namespace := o.apiService.Spec.Service.Namespace
	reviews := reviewsOf(user, append(serviceaccount.MakeGroupNames(namespace), "system:authenticated"))
	errs := make([]error, len(reviews))
	workqueue.ParallelizeUntil(ctx, reviewsAtOnce, len(reviews), func(i int) {
		var answer *authorizationv1.SubjectAccessReview
		if answer, errs[i] = o.client.AuthorizationV1().SubjectAccessReviews().Create(ctx, reviews[i], metav1.CreateOptions{}); errs[i] == nil {
			reviews[i] = answer
		}
	})
	var missing []string
	for i, review := range reviews {
		switch {
		case errs[i] != nil:
			return findings{unanswered(check, errs[i])}
		case !review.Status.Allowed:
			missing = append(missing, describe(review.Spec.ResourceAttributes))
		}
	}
	if len(missing) > 0 {
		slices.Sort(missing)
		return findings{failed(check, "%s cannot %s: apply the roles of artifacts/base again", user, strings.Join(missing, ", "))}
	}
	return findings{fine(check, "%s has all permissions that it needs", user)}
}

// serverUser returns who the servers are for the cluster, "" where they are not its pods.
func (o *Options) serverUser(ctx context.Context) (string, error) {
	service, err := o.getService(ctx)
	if err != nil || len(service.Spec.Selector) == 0 {
		return "", err
	}
	pods, err := o.client.CoreV1().Pods(service.Namespace).List(ctx, metav1.ListOptions{LabelSelector: labels.FormatLabels(service.Spec.Selector), Limit: 1})
	if err != nil || len(pods.Items) == 0 {
		return "", err
	}
	return serviceaccount.MakeUsername(service.Namespace, pods.Items[0].Spec.ServiceAccountName), nil
}

// reviewsOf returns a question for each verb of each resource.
func reviewsOf(user string, groups []string) []*authorizationv1.SubjectAccessReview {
	var reviews []*authorizationv1.SubjectAccessReview
	for _, rule := range wanted {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				name, subresource, _ := strings.Cut(resource, "/")
				attributes := &authorizationv1.ResourceAttributes{Verb: verb, Group: rule.APIGroups[0], Resource: name, Subresource: subresource}
				if len(rule.ResourceNames) > 0 {
					attributes.Name = rule.ResourceNames[0]
				}
				reviews = append(reviews, &authorizationv1.SubjectAccessReview{
					Spec: authorizationv1.SubjectAccessReviewSpec{User: user, Groups: groups, ResourceAttributes: attributes},
				})
			}
		}
	}
	return reviews
}

// describe is "list pods", or "update resourcequotas/status".
func describe(attributes *authorizationv1.ResourceAttributes) string {
	resource := attributes.Resource
	if attributes.Group != "" {
		resource += "." + attributes.Group
	}
	if attributes.Subresource != "" {
		resource += "/" + attributes.Subresource
	}
	return attributes.Verb + " " + resource
}
