// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

// Package podsecurity holds boxes to the Pod Security Standards of their namespaces, as kube-apiserver holds pods and
// Deployments to them.
//
// Like the plugin of kube-apiserver, it is an admission plugin and not a rule of validation, because it depends on the labels of
// the namespace. They are not in the box, and can change while the box stays the same. An administrator can configure the plugin
// with the PodSecurityConfiguration of kube-apiserver, or disable it.
package podsecurity

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/initializer"
	"k8s.io/apiserver/pkg/audit"
	"k8s.io/apiserver/pkg/warning"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	corev1listers "k8s.io/client-go/listers/core/v1"
	"k8s.io/component-base/metrics/legacyregistry"
	podsecurityadmission "k8s.io/pod-security-admission/admission"
	"k8s.io/pod-security-admission/admission/api/load"
	podsecurityapi "k8s.io/pod-security-admission/api"
	"k8s.io/pod-security-admission/metrics"
	"k8s.io/pod-security-admission/policy"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/admission/boxwrites"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model"
)

// PluginName is the name of the plugin of kube-apiserver that does the same.
const PluginName = "PodSecurity"

// Register registers the plugin.
func Register(plugins *admission.Plugins) {
	plugins.Register(PluginName, func(config io.Reader) (admission.Interface, error) { return newPlugin(config) })
}

// Plugin warns of boxes whose pods a namespace warns of, and refuses those whose pods it would refuse: the box would be
// accepted, and no pod of it ever run. A box that was accepted, before its namespace was labelled say, can still be
// changed as long as its pods stay what they are.
type Plugin struct {
	*admission.Handler
	delegate   *podsecurityadmission.Admission
	client     kubernetes.Interface
	namespaces corev1listers.NamespaceLister
}

var (
	_ admission.ValidationInterface                = &Plugin{}
	_ initializer.WantsExternalKubeInformerFactory = &Plugin{}
	_ initializer.WantsExternalKubeClientSet       = &Plugin{}
)

// recorder returns the metrics, which the process registers once.
var recorder = sync.OnceValue(func() metrics.Recorder {
	recorder := metrics.NewPrometheusRecorder(podsecurityapi.GetAPIVersion())
	recorder.MustRegister(legacyregistry.MustRegister)
	return recorder
})

// newPlugin reads a PodSecurityConfiguration. A nil reader means the defaults.
func newPlugin(config io.Reader) (*Plugin, error) {
	configuration, err := load.LoadFromReader(config)
	if err != nil {
		return nil, fmt.Errorf("reading the configuration of %s: %w", PluginName, err)
	}
	evaluator, err := policy.NewEvaluator(policy.DefaultChecks(), nil)
	if err != nil {
		return nil, fmt.Errorf("creating the evaluator of %s: %w", PluginName, err)
	}
	return &Plugin{
		Handler:  admission.NewHandler(admission.Create, admission.Update),
		delegate: &podsecurityadmission.Admission{Configuration: configuration, Evaluator: evaluator, Metrics: recorder()},
	}, nil
}

// SetExternalKubeInformerFactory lets the plugin know the namespaces of the cluster.
func (p *Plugin) SetExternalKubeInformerFactory(factory informers.SharedInformerFactory) {
	namespaces := factory.Core().V1().Namespaces()
	p.namespaces = namespaces.Lister()
	p.SetReadyFunc(namespaces.Informer().HasSynced)
}

// SetExternalKubeClientSet lets the plugin ask for a namespace that it does not know yet.
func (p *Plugin) SetExternalKubeClientSet(client kubernetes.Interface) {
	p.client = client
}

// ValidateInitialization returns what keeps the plugin from working.
func (p *Plugin) ValidateInitialization() error {
	if p.namespaces == nil || p.client == nil {
		return errors.New("missing the informer of namespaces or the client")
	}
	p.delegate.NamespaceGetter = podsecurityadmission.NamespaceGetterFromListerAndClient(p.namespaces, p.client)
	p.delegate.PodLister = podsecurityadmission.PodListerFromClient(p.client)
	if err := p.delegate.CompleteConfiguration(); err != nil {
		return fmt.Errorf("completing the configuration: %w", err)
	}
	return p.delegate.ValidateConfiguration()
}

// Validate refuses a box, or a stack with a box, that is made, or changed, so that its namespace would refuse its pods.
func (p *Plugin) Validate(ctx context.Context, a admission.Attributes, _ admission.ObjectInterfaces) error {
	writes, err := boxwrites.Of(a)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(writes) == 0 {
		return nil
	}
	if !p.WaitForReady() {
		return admission.NewForbidden(a, errors.New("not yet ready to handle request"))
	}
	// To render pods takes longer than to look at the namespace, and most namespaces allow everything.
	if p.allowsEverything(ctx, a.GetNamespace()) {
		return nil
	}
	for _, write := range writes {
		pod, isNew := podOf(ctx, write)
		if pod == nil {
			continue
		}
		attributes := &podsecurityapi.AttributesRecord{
			Name:      a.GetName(),
			Namespace: a.GetNamespace(),
			Kind:      a.GetKind(),
			Resource:  a.GetResource(),
			Operation: admissionv1.Create,
			Object:    pod,
			Username:  a.GetUserInfo().GetName(),
		}
		evaluate := p.delegate.ValidatePodController
		if isNew {
			evaluate = p.delegate.ValidatePod
		}
		if err := conclude(ctx, evaluate(ctx, attributes), prefixOf(a, write)); err != nil {
			return err
		}
	}
	return nil
}

// allowsEverything returns whether the namespace neither refuses a pod, nor warns of one, nor has one in the audit log.
func (p *Plugin) allowsEverything(ctx context.Context, name string) bool {
	namespace, err := p.delegate.NamespaceGetter.GetNamespace(ctx, name)
	if err != nil {
		return false // which the evaluation tells
	}
	levels, errs := p.delegate.PolicyToEvaluate(namespace.Labels)
	return len(errs) == 0 && levels.FullyPrivileged()
}

// prefixOf says which one of several boxes a write is.
func prefixOf(a admission.Attributes, write boxwrites.Write) string {
	if a.GetResource().GroupResource() == model.Resource("modelboxes") {
		return ""
	}
	return write.Spec.String() + ": "
}

// conclude tells the user and the audit log what a namespace makes of a pod. prefix says which one it is, where there are
// several.
func conclude(ctx context.Context, response *admissionv1.AdmissionResponse, prefix string) error {
	for _, text := range response.Warnings {
		warning.AddWarning(ctx, "", prefix+text)
	}
	for key, value := range response.AuditAnnotations {
		audit.AddAuditAnnotation(ctx, podsecurityapi.AuditAnnotationPrefix+key, value)
	}
	if response.Allowed {
		return nil
	}
	status := *response.Result
	status.Message = prefix + status.Message
	return &apierrors.StatusError{ErrStatus: status}
}
