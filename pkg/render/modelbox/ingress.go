// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package modelbox

import (
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	applynetworkingv1 "k8s.io/client-go/applyconfigurations/networking/v1"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
)

// ingress returns the Ingress of a box: a rule for each host, or one rule for all hosts. It does not have the annotations of all
// children, because their author may have no permission to configure a proxy. The Ingress has separate annotations in the box.
func ingress(box *modelv1.ModelBox) *applynetworkingv1.IngressApplyConfiguration {
	options := box.Spec.Ingress
	spec := applynetworkingv1.IngressSpec()
	spec.IngressClassName = options.ClassName
	for _, host := range options.Hosts {
		spec.WithRules(ingressRule(box).WithHost(host))
	}
	if len(options.Hosts) == 0 {
		spec.WithRules(ingressRule(box))
	}
	if options.TLS != nil {
		tls := applynetworkingv1.IngressTLS().WithHosts(options.Hosts...)
		if options.TLS.SecretName != "" {
			tls.WithSecretName(options.TLS.SecretName)
		}
		spec.WithTLS(tls)
	}
	return applynetworkingv1.Ingress(box.Name, box.Namespace).
		WithLabels(labels(box)).
		WithAnnotations(options.Annotations).
		WithOwnerReferences(render.OwnerReference(box, Kind)).
		WithSpec(spec)
}

// ingressRule returns a rule that routes the paths to the Service.
func ingressRule(box *modelv1.ModelBox) *applynetworkingv1.IngressRuleApplyConfiguration {
	options := box.Spec.Ingress
	rule := applynetworkingv1.HTTPIngressRuleValue().WithPaths(ingressPath(box, options.Path, options.PathType, options.Port))
	for i := range options.Paths {
		path := &options.Paths[i]
		rule.WithPaths(ingressPath(box, path.Path, path.PathType, path.Port))
	}
	return applynetworkingv1.IngressRule().WithHTTP(rule)
}

func ingressPath(box *modelv1.ModelBox, value string, pathType networkingv1.PathType, port *intstr.IntOrString) *applynetworkingv1.HTTPIngressPathApplyConfiguration {
	path := applynetworkingv1.HTTPIngressPath().
		WithPathType(pathType).
		WithBackend(applynetworkingv1.IngressBackend().WithService(applynetworkingv1.IngressServiceBackend().
			WithName(box.Name).
			WithPort(applynetworkingv1.ServiceBackendPort().WithNumber(httpPort(box, port)))))
	if value != "" {
		path.WithPath(value)
	}
	return path
}
