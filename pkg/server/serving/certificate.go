// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package serving

import (
	"fmt"

	"k8s.io/apimachinery/pkg/runtime"
	genericapiserver "k8s.io/apiserver/pkg/server"
	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	aggregator "k8s.io/kube-aggregator/pkg/client/clientset_generated/clientset"

	modelv1 "github.com/sharelinuxs/modelbox-apiserver/pkg/apis/model/v1"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/render"
	"github.com/sharelinuxs/modelbox-apiserver/pkg/servingcertificate"
)

// IssueCertificate lets the server serve with a certificate that it issues as options says, whose clients this sets. The server runs
// what keeps the certificate, as it does what reads files, and is not ready before the cluster trusts it.
func IssueCertificate(config *genericapiserver.RecommendedConfig, options servingcertificate.Config) error {
	clientConfig := rest.AddUserAgent(rest.CopyConfig(config.ClientConfig), "serving-certificate")
	clientConfig.ContentType = runtime.ContentTypeProtobuf
	clientConfig.AcceptContentTypes = runtime.ContentTypeProtobuf + "," + runtime.ContentTypeJSON
	var err error
	if options.KubeClient, err = kubernetes.NewForConfig(clientConfig); err != nil {
		return fmt.Errorf("creating the client for the serving certificate: %w", err)
	}
	if options.AggregatorClient, err = aggregator.NewForConfig(clientConfig); err != nil {
		return fmt.Errorf("creating the client for the APIService: %w", err)
	}
	options.APIService = modelv1.SchemeGroupVersion.Version + "." + modelv1.SchemeGroupVersion.Group
	options.EventReporter = render.EventReporter
	controller, err := servingcertificate.New(options)
	if err != nil {
		return err
	}
	config.SecureServing.Cert = controller
	config.AddReadyzChecks(healthz.NamedCheck("serving-certificate", controller.Check))
	return nil
}
