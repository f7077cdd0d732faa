/* SPDX-License-Identifier: MIT
 *
 * How alike two candidates are, as a covariance: of the error that the prediction makes on one with
 * the error that it makes on the other, both as relative speeds (pool.h). Where nothing is
 * predicted, it is that of their speeds.
 *
 * A sum of parts: one of each family; one that grows with the prediction (a model may spread speeds
 * too much, or mean nothing); one of the values that they share, whatever the other parameters are
 * (additive); and one of the configuration, a Matern function (nu 5/2) of the distance between two,
 * in which each parameter has a weight of its own ("automatic relevance determination"). Weights,
 * sizes of the parts and noise are those under which the errors seen so far are most likely, with
 * priors that hold where little is known. Sources: C. Rasmussen, C. Williams, "Gaussian Processes
 * for Machine Learning" (2006), sections 4.2 and 5.4; D. Duvenaud, H. Nickisch, C. Rasmussen,
 * "Additive Gaussian Processes" (2011).
 */
#ifndef SEARCH_COVARIANCE_H
#define SEARCH_COVARIANCE_H

#include "base/random.h"
#include "search/neighbours.h"

struct covariance {
	const struct neighbourhood *neighbourhood;
	/* what is learned, as logarithms */
	double log_size, log_noise; /* standard deviations; noise: in sizes */
	double log_slope;
	double log_odds; /* of the variance of shared values to that of the whole configuration */
	struct variances {
		float value, place, slope;
	} variances; /* from these logarithms */
	struct along {
		size_t levels;
		bool is_ordered;
		double log_weight; /* learned, too */
		/* [distance in choices]: squared part of the distance, and how alike two values
		 * are, over all parameters up to 1 */
		struct part {
			float square, alike;
		} * parts;
	} * *along;   /* [family][parameter] */
	float *slope; /* [candidate]: 1 - predicted speed / best predicted speed */
};

void covariance_init(struct covariance *covariance, const struct neighbourhood *neighbourhood);
void covariance_release(struct covariance *covariance);

/* Of two candidates; a gaussian_covariance. */
double covariance_between(const void *covariance, size_t a, size_t b);
/* Variance of one observation around what it is of. */
double covariance_noise(const struct covariance *covariance);

/* Learns from the errors of some candidates; NAN: not known. Of many only some, drawn at random,
 * are looked at, so that it costs some hundredths of a second at most. */
void covariance_fit(struct covariance *covariance, const size_t *candidates, const double *errors,
	size_t count, struct random_state *random);

#endif
