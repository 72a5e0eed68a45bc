// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package corevalidation

import (
	"encoding/json"
	"regexp"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	podutil "k8s.io/kubernetes/pkg/api/pod"
	"k8s.io/kubernetes/pkg/apis/apps"
	_ "k8s.io/kubernetes/pkg/apis/apps/install"
	appsvalidation "k8s.io/kubernetes/pkg/apis/apps/validation"
	"k8s.io/kubernetes/pkg/apis/autoscaling"
	_ "k8s.io/kubernetes/pkg/apis/autoscaling/install"
	autoscalingvalidation "k8s.io/kubernetes/pkg/apis/autoscaling/validation"
	"k8s.io/kubernetes/pkg/apis/core"
	_ "k8s.io/kubernetes/pkg/apis/core/install"
	corevalidation "k8s.io/kubernetes/pkg/apis/core/validation"
	"k8s.io/kubernetes/pkg/apis/networking"
	_ "k8s.io/kubernetes/pkg/apis/networking/install"
	networkingvalidation "k8s.io/kubernetes/pkg/apis/networking/validation"
	"k8s.io/kubernetes/pkg/capabilities"
)

// refusals are what is said of an object, by the paths of its fields.
type refusals map[string]string

func (r refusals) add(errs field.ErrorList, parent string) {
	for _, err := range errs {
		path := parent + err.Field
		for _, misnamed := range misnamedPaths {
			path = misnamed.pattern.ReplaceAllString(path, misnamed.path)
		}
		r[path] = err.ErrorBody()
	}
}

// misnamedPaths are those that Kubernetes gives to fields that are elsewhere.
var misnamedPaths = []struct {
	pattern *regexp.Regexp
	path    string
}{
	{regexp.MustCompile(`^spec\.template\.(labels|annotations)\b`), "template.metadata.$1"},
	{regexp.MustCompile(`^spec\.template\.`), "template."},
	{regexp.MustCompile(`\bLoadBalancerSourceRanges\b`), "loadBalancerSourceRanges"},
	{regexp.MustCompile(`\.persistentDisk\b`), ".gcePersistentDisk"},
	{regexp.MustCompile(`\.downwarAPI\b`), ".downwardAPI"},
	{regexp.MustCompile(`\.initiatorname\b`), ".initiatorName"},
	{regexp.MustCompile(`\.csi\.name\b`), ".csi.nodePublishSecretRef.name"},
	{regexp.MustCompile(`\.downwardAPI\.(path|mode|fieldRef|resourceFieldRef)\b`), ".downwardAPI.items.$1"},
	{regexp.MustCompile(`\.(fieldRef|resourceFieldRef)\.resource\.divisor\b`), ".$1.divisor"},
	{regexp.MustCompile(`\.projected\.path\b`), ".projected.sources"},
	{regexp.MustCompile(`\.securityContext\.(shareProcessNamespace|hostUsers|hostPID|hostIPC|hostNetwork)\b`), ".$1"},
	{regexp.MustCompile(`\.resources\.containers\[[0-9]+\](\[.*\])\.limits$`), ".containers.resources.limits$1"},
	{regexp.MustCompile(`\.resources\[storage\]`), ".resources.requests[storage]"},
	{regexp.MustCompile(`\.overhead\.limits\b`), ".overhead"},
	{regexp.MustCompile(`\.annotations\.(.+)$`), ".annotations[$1]"},
	{regexp.MustCompile(`\.namespace$`), ".namespaces"},
	{regexp.MustCompile(`\.Host(IPC|PID)$`), ".host$1"},
}

func TestMain(m *testing.M) {
	// As kube-apiserver does with --allow-privileged.
	capabilities.Initialize(capabilities.Capabilities{AllowPrivileged: true})
	m.Run()
}

// validateByKubernetes returns what the API of Kubernetes refuses of an object: of a PodTemplate, what it refuses of a
// Deployment with the template and of the pods of the Deployment.
func validateByKubernetes(object []byte) (refusals, error) {
	var kind metav1.TypeMeta
	if err := json.Unmarshal(object, &kind); err != nil {
		return nil, err
	}
	switch kind.Kind {
	case "Service":
		return validateService(object)
	case "HorizontalPodAutoscaler":
		return validateAutoscaler(object)
	case "NetworkPolicy":
		return validateNetworkPolicy(object)
	default:
		return validatePodTemplate(object)
	}
}

func validateAutoscaler(object []byte) (refusals, error) {
	var autoscaler autoscalingv2.HorizontalPodAutoscaler
	if err := json.Unmarshal(object, &autoscaler); err != nil {
		return nil, err
	}
	autoscaler.Namespace = metav1.NamespaceDefault
	legacyscheme.Scheme.Default(&autoscaler)
	internal := &autoscaling.HorizontalPodAutoscaler{}
	if err := legacyscheme.Scheme.Convert(&autoscaler, internal, nil); err != nil {
		return nil, err
	}
	refused := refusals{}
	refused.add(autoscalingvalidation.ValidateHorizontalPodAutoscaler(internal, autoscalingvalidation.HorizontalPodAutoscalerSpecValidationOptions{
		MinReplicasLowerBound:          0, // as with the feature gate HPAScaleToZero
		ObjectMetricsValidationOptions: autoscalingvalidation.CrossVersionObjectReferenceValidationOptions{AllowEmptyAPIGroup: true},
	}), "")
	return refused, nil
}

func validateNetworkPolicy(object []byte) (refusals, error) {
	var policy networkingv1.NetworkPolicy
	if err := json.Unmarshal(object, &policy); err != nil {
		return nil, err
	}
	policy.Namespace = metav1.NamespaceDefault
	legacyscheme.Scheme.Default(&policy)
	internal := &networking.NetworkPolicy{}
	if err := legacyscheme.Scheme.Convert(&policy, internal, nil); err != nil {
		return nil, err
	}
	refused := refusals{}
	refused.add(networkingvalidation.ValidateNetworkPolicy(internal, networkingvalidation.ValidationOptionsForNetworking(internal, nil)), "")
	return refused, nil
}

func validatePodTemplate(object []byte) (refusals, error) {
	var template corev1.PodTemplate
	if err := json.Unmarshal(object, &template); err != nil {
		return nil, err
	}
	// The selector is the product's: it is never what is refused.
	if template.Template.Labels == nil {
		template.Template.Labels = map[string]string{}
	}
	template.Template.Labels["selector"] = "web"
	deployment := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "web", Namespace: metav1.NamespaceDefault},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"selector": "web"}},
			Template: template.Template,
		},
	}
	legacyscheme.Scheme.Default(deployment)
	internal := &apps.Deployment{}
	if err := legacyscheme.Scheme.Convert(deployment, internal, nil); err != nil {
		return nil, err
	}
	podutil.DropDisabledTemplateFields(&internal.Spec.Template, nil)
	options := podutil.GetValidationOptionsFromPodTemplate(&internal.Spec.Template, nil)
	refused := refusals{}
	refused.add(appsvalidation.ValidateDeployment(internal, options), "")

	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Name: "web-1", Namespace: metav1.NamespaceDefault,
			Labels: template.Template.Labels, Annotations: template.Template.Annotations, Finalizers: template.Template.Finalizers,
		},
		Spec: deployment.Spec.Template.Spec,
	}
	errs, err := validatePod(pod)
	refused.add(errs, "template.")
	return refused, err
}

func validatePod(pod *corev1.Pod) (field.ErrorList, error) {
	if pod.Spec.ServiceAccountName == "" && pod.Spec.DeprecatedServiceAccount == "" {
		pod.Spec.ServiceAccountName = "default" // by an admission plugin
	}
	legacyscheme.Scheme.Default(pod)
	internal := &core.Pod{}
	if err := legacyscheme.Scheme.Convert(pod, internal, nil); err != nil {
		return nil, err
	}
	podutil.DropDisabledPodFields(internal, nil)
	options := podutil.GetValidationOptionsFromPodSpecAndMeta(&internal.Spec, nil, &internal.ObjectMeta, nil)
	options.ResourceIsPod = true
	return corevalidation.ValidatePodCreate(internal, options), nil
}

func validateService(object []byte) (refusals, error) {
	var service corev1.Service
	if err := json.Unmarshal(object, &service); err != nil {
		return nil, err
	}
	service.Namespace = metav1.NamespaceDefault
	legacyscheme.Scheme.Default(&service)
	internal := &core.Service{}
	if err := legacyscheme.Scheme.Convert(&service, internal, nil); err != nil {
		return nil, err
	}
	allocate(internal)
	refused := refusals{}
	refused.add(corevalidation.ValidateServiceCreate(internal), "")
	return refused, nil
}

// allocate does what the registry of Services does before it validates, where it does not depend on the cluster.
func allocate(service *core.Service) {
	if service.Spec.ClusterIP != "" && len(service.Spec.ClusterIPs) == 0 {
		service.Spec.ClusterIPs = []string{service.Spec.ClusterIP}
	}
	isLocal := service.Spec.ExternalTrafficPolicy == core.ServiceExternalTrafficPolicyLocal
	if service.Spec.Type == core.ServiceTypeLoadBalancer && isLocal && service.Spec.HealthCheckNodePort == 0 {
		service.Spec.HealthCheckNodePort = 30000
	}
}
