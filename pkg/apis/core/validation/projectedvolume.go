// SPDX-FileCopyrightText: The ModelBox Authors
// SPDX-License-Identifier: Apache-2.0

package validation

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/sharelinuxs/modelbox-apiserver/pkg/apis/validate"
)

const (
	minTokenSeconds           = 10 * 60
	maxTokenSeconds           = 1 << 32
	minCertificateSeconds     = 60 * 60
	maxCertificateSeconds     = 91 * 24 * 60 * 60
	maxKubeCertificateSeconds = 24 * 60 * 60
	maxSignerDomainLength     = validation.DNS1123SubdomainMaxLength
	maxSignerNameLength       = maxSignerDomainLength + 1 + validation.DNS1123SubdomainMaxLength + 1 + validation.DNS1123LabelMaxLength
	kubernetesSignerDomain    = "kubernetes.io"
	signerNameRule            = `must be of the form "example.com/signer-name"`
)

var certificateKeyTypes = []string{"RSA3072", "RSA4096", "ECDSAP256", "ECDSAP384", "ECDSAP521", "ED25519"}

func validateProjectedVolumeSource(source *corev1.ProjectedVolumeSource, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateFileMode(source.DefaultMode, path.Child("defaultMode")),
		validateUserID(source.DefaultUser, path.Child("defaultUser")),
	)
	files := validate.Unique[string]{}
	for i := range validate.Each(source.Sources, &errs) {
		projection, projectionPath := &source.Sources[i], path.Child("sources").Index(i)
		errs = append(errs, slices.Concat(
			validateProjection(projection, projectionPath),
			validateProjectedFiles(projection, files, projectionPath),
		)...)
	}
	return errs
}

func validateProjection(projection *corev1.VolumeProjection, path *field.Path) field.ErrorList {
	return validate.ExactlyOneOf([]validate.Member{
		validate.MemberOf("secret", projection.Secret, validateSecretProjection),
		validate.MemberOf("configMap", projection.ConfigMap, validateConfigMapProjection),
		validate.MemberOf("downwardAPI", projection.DownwardAPI, validateDownwardAPIProjection),
		validate.MemberOf("serviceAccountToken", projection.ServiceAccountToken, validateServiceAccountTokenProjection),
		validate.MemberOf("clusterTrustBundle", projection.ClusterTrustBundle, validateClusterTrustBundleProjection),
		validate.MemberOf("podCertificate", projection.PodCertificate, validatePodCertificateProjection),
	}, path)
}

// validateProjectedFiles refuses a path that another source of the volume writes to. The token is left to the
// kubelet, as the Pod API leaves it.
func validateProjectedFiles(projection *corev1.VolumeProjection, files validate.Unique[string], path *field.Path) field.ErrorList {
	var errs field.ErrorList
	if projection.Secret != nil {
		for i, item := range validate.Each(projection.Secret.Items, &errs) {
			errs = append(errs, files.Add(item.Path, path.Child("secret", "items").Index(i).Child("path"))...)
		}
	}
	if projection.ConfigMap != nil {
		for i, item := range validate.Each(projection.ConfigMap.Items, &errs) {
			errs = append(errs, files.Add(item.Path, path.Child("configMap", "items").Index(i).Child("path"))...)
		}
	}
	if projection.DownwardAPI != nil {
		for i, item := range validate.Each(projection.DownwardAPI.Items, &errs) {
			errs = append(errs, files.Add(item.Path, path.Child("downwardAPI", "items").Index(i).Child("path"))...)
		}
	}
	if bundle := projection.ClusterTrustBundle; bundle != nil {
		errs = append(errs, files.Add(bundle.Path, path.Child("clusterTrustBundle", "path"))...)
	}
	if certificate := projection.PodCertificate; certificate != nil {
		errs = append(errs, files.Add(certificate.CredentialBundlePath, path.Child("podCertificate", "credentialBundlePath"))...)
		errs = append(errs, files.Add(certificate.KeyPath, path.Child("podCertificate", "keyPath"))...)
		errs = append(errs, files.Add(certificate.CertificateChainPath, path.Child("podCertificate", "certificateChainPath"))...)
	}
	return errs
}

func validateSecretProjection(source *corev1.SecretProjection, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(source.Name, validation.IsDNS1123Subdomain, path.Child("name")),
		validateKeyPaths(source.Items, path.Child("items")),
	)
}

func validateConfigMapProjection(source *corev1.ConfigMapProjection, path *field.Path) field.ErrorList {
	return slices.Concat(
		validate.Format(source.Name, validation.IsDNS1123Subdomain, path.Child("name")),
		validateKeyPaths(source.Items, path.Child("items")),
	)
}

func validateDownwardAPIProjection(source *corev1.DownwardAPIProjection, path *field.Path) field.ErrorList {
	return validateDownwardAPIFiles(source.Items, path.Child("items"))
}

func validateServiceAccountTokenProjection(source *corev1.ServiceAccountTokenProjection, path *field.Path) field.ErrorList {
	errs := slices.Concat(validateFilePath(source.Path, path.Child("path")), validateUserID(source.User, path.Child("user")))
	if seconds := source.ExpirationSeconds; seconds != nil && (*seconds < minTokenSeconds || *seconds > maxTokenSeconds) {
		detail := fmt.Sprintf("must be between %d and %d", minTokenSeconds, maxTokenSeconds)
		errs = append(errs, field.Invalid(path.Child("expirationSeconds"), *seconds, detail))
	}
	return errs
}

func validateClusterTrustBundleProjection(source *corev1.ClusterTrustBundleProjection, path *field.Path) field.ErrorList {
	errs := slices.Concat(validateFilePath(source.Path, path.Child("path")), validateUserID(source.User, path.Child("user")))
	switch {
	case source.Name == nil && source.SignerName == nil:
		errs = append(errs, field.Required(path, "must have one of: name, signerName"))
	case source.Name == nil:
		errs = append(errs, validateSignerName(*source.SignerName, path.Child("signerName"))...)
		errs = append(errs, validateLabelSelector(source.LabelSelector, path.Child("labelSelector"))...)
	default:
		errs = append(errs, validateTrustBundleName(*source.Name, path.Child("name"))...)
		if source.SignerName != nil {
			errs = append(errs, field.Forbidden(path.Child("signerName"), "only one may be given, and name is"))
		}
		if source.LabelSelector != nil {
			errs = append(errs, field.Forbidden(path.Child("labelSelector"), "may only be given with signerName"))
		}
	}
	return errs
}

// validateTrustBundleName accepts "bundle", and "example.com:signer-name:bundle" for a bundle of a signer.
func validateTrustBundleName(name string, path *field.Path) field.ErrorList {
	last := strings.LastIndex(name, ":")
	if last < 0 {
		return validate.Format(name, validation.IsDNS1123Subdomain, path)
	}
	if signer := name[:last]; signer == "" || strings.Contains(signer, "/") {
		return field.ErrorList{field.Invalid(path, name, `must have the signer in front of ':' in the form "example.com:signer-name"`)}
	}
	return validate.Invalid(path, name, validation.IsDNS1123Subdomain(name[last+1:]))
}

func validatePodCertificateProjection(source *corev1.PodCertificateProjection, path *field.Path) field.ErrorList {
	errs := slices.Concat(
		validateSignerName(source.SignerName, path.Child("signerName")),
		validate.Enum(source.KeyType, certificateKeyTypes, path.Child("keyType")),
		validateCertificateSeconds(source, path.Child("maxExpirationSeconds")),
		validateUserAnnotations(source.UserAnnotations, path.Child("userAnnotations")),
		validateUserID(source.User, path.Child("user")),
	)
	files := []struct{ name, path string }{
		{"credentialBundlePath", source.CredentialBundlePath},
		{"keyPath", source.KeyPath},
		{"certificateChainPath", source.CertificateChainPath},
	}
	given := false
	for _, file := range files {
		if file.path != "" {
			given = true
			errs = append(errs, validateFilePath(file.path, path.Child(file.name))...)
		}
	}
	if !given {
		errs = append(errs, field.Required(path, "must have one of: credentialBundlePath, keyPath, certificateChainPath"))
	}
	return errs
}

func validateCertificateSeconds(source *corev1.PodCertificateProjection, path *field.Path) field.ErrorList {
	seconds, longest := source.MaxExpirationSeconds, int32(maxCertificateSeconds)
	domain, _, _ := strings.Cut(source.SignerName, "/")
	if domain == kubernetesSignerDomain || strings.HasSuffix(domain, "."+kubernetesSignerDomain) {
		longest = maxKubeCertificateSeconds
	}
	if seconds == nil || *seconds >= minCertificateSeconds && *seconds <= longest {
		return nil
	}
	return field.ErrorList{field.Invalid(path, *seconds, fmt.Sprintf("must be between %d and %d", minCertificateSeconds, longest))}
}

func validateUserAnnotations(annotations map[string]string, path *field.Path) field.ErrorList {
	var errs field.ErrorList
	for _, key := range validate.Each(slices.Sorted(maps.Keys(annotations)), &errs) {
		errs = append(errs, validation.IsDomainPrefixedKey(path, strings.ToLower(key))...)
	}
	if apivalidation.ValidateAnnotationsSize(annotations) != nil {
		errs = append(errs, field.TooLong(path, "", apivalidation.TotalAnnotationSizeLimitB))
	}
	return errs
}

func validateSignerName(name string, path *field.Path) field.ErrorList {
	domain, signer, found := strings.Cut(name, "/")
	if name == "" {
		return field.ErrorList{field.Required(path, signerNameRule)}
	}
	if !found || strings.Contains(signer, "/") || !strings.Contains(domain, ".") {
		return field.ErrorList{field.Invalid(path, name, signerNameRule)}
	}
	if len(domain) > maxSignerDomainLength || len(name) > maxSignerNameLength {
		return field.ErrorList{field.TooLong(path, name, maxSignerNameLength)}
	}
	for _, label := range strings.Split(domain, ".") {
		if messages := validation.IsDNS1123Label(label); len(messages) > 0 {
			return validate.Invalid(path, name, messages)
		}
	}
	for _, label := range strings.Split(signer, ".") {
		if messages := validation.IsDNS1123Subdomain(label); len(messages) > 0 {
			return validate.Invalid(path, name, messages)
		}
	}
	return nil
}
